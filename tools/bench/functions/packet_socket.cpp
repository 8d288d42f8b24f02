// SPDX-License-Identifier: Apache-2.0
// What a program can do without a network function: take a copy of each frame by a packet socket, and send
// it.
#include "bench/functions/contestant.hpp"
#include "bench/traffic/traffic.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>

namespace tna::bench {

namespace {
constexpr std::size_t batch = 64;
constexpr std::size_t longest = 2048;

Result<UniqueFd> openSocket(const std::string& device) {
    UniqueFd fd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    if (!fd)
        return failErrno(errno, "cannot open a packet socket");
    const int yes = 1;
    if (::setsockopt(fd.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof(yes)) != 0)
        return failErrno(errno, "cannot leave out what the packet socket sends");
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        return failErrno(errno, "cannot bind a packet socket to {}", device);
    return fd;
}

class SocketSwapper : public Contestant {
public:
    SocketSwapper(UniqueFd fd, unsigned cpu) : fd_(std::move(fd)), thread_([this, cpu] { serve(cpu); }) {}
    ~SocketSwapper() override {
        stop_ = true;
        thread_.join();
    }
    SocketSwapper(const SocketSwapper&) = delete;
    SocketSwapper& operator=(const SocketSwapper&) = delete;

private:
    void serve(unsigned cpu) {
        constexpr int patience = 50;
        pinTo(cpu);
        std::vector<std::array<unsigned char, longest>> memory(batch);
        std::array<iovec, batch> parts{};
        std::array<mmsghdr, batch> messages{};
        for (std::size_t i = 0; i < batch; i++)
            messages.at(i).msg_hdr = {.msg_iov = &parts.at(i), .msg_iovlen = 1};
        while (!stop_) {
            pollfd waiting{fd_.get(), POLLIN, 0};
            if (::poll(&waiting, 1, patience) <= 0)
                continue;
            for (std::size_t i = 0; i < batch; i++)
                parts.at(i) = {memory.at(i).data(), longest};
            const int came = ::recvmmsg(fd_.get(), messages.data(), batch, MSG_DONTWAIT, nullptr);
            for (int i = 0; i < came; i++) {
                const auto at = static_cast<std::size_t>(i);
                auto& frame = memory.at(at);
                std::swap_ranges(frame.begin(), frame.begin() + ETH_ALEN, frame.begin() + ETH_ALEN);
                parts.at(at).iov_len = messages.at(at).msg_len;
            }
            // What does not fit into the device's queue is lost, as with any program that does not wait.
            if (came > 0)
                ::sendmmsg(fd_.get(), messages.data(), static_cast<unsigned>(came), MSG_DONTWAIT);
        }
    }
    UniqueFd fd_;
    std::atomic<bool> stop_{false};
    std::thread thread_;
};
} // namespace

Result<std::unique_ptr<Contestant>> startPacketSocket(const Contest& contest) {
    const auto inside = NamespaceScope::enter(contest.side.place().device());
    if (!inside)
        return std::unexpected(inside.error());
    auto fd = openSocket(contest.side.place().deviceName());
    if (!fd)
        return std::unexpected(fd.error());
    return std::make_unique<SocketSwapper>(std::move(*fd), contest.cpu);
}

} // namespace tna::bench
