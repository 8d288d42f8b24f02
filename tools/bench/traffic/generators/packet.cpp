// SPDX-License-Identifier: Apache-2.0
#include "base/unique_fd.hpp"
#include "bench/testbed/frame.hpp"
#include "bench/traffic/generators/sender.hpp"

#include <array>
#include <cerrno>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

namespace tna::bench {

namespace {
constexpr unsigned batch = 32;

/// An AF_PACKET socket past the queueing discipline.
class PacketSender : public Sender {
public:
    explicit PacketSender(UniqueFd socket) : socket_(std::move(socket)), frames_(batch, Frame(largestFrame)) {
        for (unsigned i = 0; i < batch; i++) {
            parts_.at(i).iov_base = frames_[i].data();
            messages_.at(i).msg_hdr.msg_iov = &parts_.at(i);
            messages_.at(i).msg_hdr.msg_iovlen = 1;
        }
    }
    [[nodiscard]] unsigned room() const override { return batch; }
    [[nodiscard]] std::span<unsigned char> frame(unsigned index) override { return frames_[index]; }
    void setSize(unsigned index, std::size_t size) override { parts_.at(index).iov_len = size; }
    [[nodiscard]] Result<unsigned> send(unsigned first, unsigned end) override {
        const int sent = ::sendmmsg(socket_.get(), &messages_.at(first), end - first, 0);
        if (sent >= 0)
            return static_cast<unsigned>(sent);
        if (errno == ENOBUFS || errno == EAGAIN || errno == EINTR)
            return 0U;
        return failErrno(errno, "cannot send by a packet socket");
    }

private:
    UniqueFd socket_;
    std::vector<Frame> frames_;
    std::array<iovec, batch> parts_{};
    std::array<mmsghdr, batch> messages_{};
};
} // namespace

Result<std::unique_ptr<Sender>> makePacketSender(const std::string& device) {
    UniqueFd socket{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    const int yes = 1;
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
    if (!socket || ::setsockopt(socket.get(), SOL_PACKET, PACKET_QDISC_BYPASS, &yes, sizeof(yes)) != 0 ||
        ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0)
        return failErrno(errno, "cannot make a packet socket on {}", device);
    return std::make_unique<PacketSender>(std::move(socket));
}

} // namespace tna::bench
