// SPDX-License-Identifier: Apache-2.0
// What a program can do without a network function: take a copy of each frame by a packet socket, do the same
// with it as tna-workload, and send it.
#include "bench/functions/contestant.hpp"
#include "bench/traffic/traffic.hpp"

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
/// Frames wait in the socket's buffer, each with its bookkeeping: as many as others have memory for.
constexpr int receiveBuffer = static_cast<int>(frameMemory) * 1024 / 2;

Result<UniqueFd> openSocket(const std::string& device) {
    UniqueFd fd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
    if (!fd)
        return failErrno(errno, "cannot open a packet socket");
    const int yes = 1;
    if (::setsockopt(fd.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof(yes)) != 0 ||
        ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &receiveBuffer, sizeof(receiveBuffer)) != 0)
        return failErrno(errno, "cannot prepare a packet socket");
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(::if_nametoindex(device.c_str()));
    if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        return failErrno(errno, "cannot bind a packet socket to {}", device);
    return fd;
}

class PacketSocket : public Contestant {
public:
    PacketSocket(UniqueFd fd, const FunctionsCase& one, unsigned cpu)
        : fd_(std::move(fd)), sends_(one.which == Class::returned), worker_(one.work, settingsOf(one)),
          thread_([this, cpu] { serve(cpu); }) {}
    ~PacketSocket() override {
        stop_ = true;
        thread_.join();
    }
    PacketSocket(const PacketSocket&) = delete;
    PacketSocket& operator=(const PacketSocket&) = delete;
    Result<Counted> dropped() override { return Counted{dropped_, monotonicNow()}; }

private:
    void serve(unsigned cpu) {
        constexpr int patience = 50;
        pinTo(cpu);
        std::vector<std::array<unsigned char, longest>> memory(batch);
        std::array<iovec, batch> parts{};
        std::array<mmsghdr, batch> messages{}, answers{};
        for (std::size_t i = 0; i < batch; i++)
            messages.at(i).msg_hdr = {.msg_iov = &parts.at(i), .msg_iovlen = 1};
        while (!stop_) {
            pollfd waiting{fd_.get(), POLLIN, 0};
            if (::poll(&waiting, 1, patience) <= 0)
                continue;
            for (std::size_t i = 0; i < batch; i++)
                parts.at(i) = {memory.at(i).data(), longest};
            const int came = ::recvmmsg(fd_.get(), messages.data(), batch, MSG_DONTWAIT, nullptr);
            unsigned answered = 0;
            for (int i = 0; i < came; i++) {
                const auto at = static_cast<std::size_t>(i);
                parts.at(at).iov_len = messages.at(at).msg_len;
                if (worker_.treat({memory.at(at).data(), messages.at(at).msg_len}) && sends_)
                    answers.at(answered++).msg_hdr = messages.at(at).msg_hdr;
                else
                    dropped_.fetch_add(1, std::memory_order_relaxed);
            }
            // What does not fit into the device's queue is lost, as with any program that does not wait.
            if (answered > 0)
                ::sendmmsg(fd_.get(), answers.data(), answered, MSG_DONTWAIT);
        }
    }
    UniqueFd fd_;
    bool sends_;
    workload::Worker worker_;
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<bool> stop_{false};
    std::thread thread_;
};
} // namespace

Started startPacketSocket(const Contest& contest) {
    const auto inside = NamespaceScope::enter(contest.side.place().device());
    if (!inside)
        return std::unexpected(inside.error());
    auto fd = openSocket(contest.side.place().deviceName());
    if (!fd)
        return std::unexpected(fd.error());
    return std::make_unique<PacketSocket>(std::move(*fd), contest.one, contest.side.userCpu());
}

Started startNobody(const Contest& /*contest*/) {
    return std::make_unique<Contestant>();
}

} // namespace tna::bench
