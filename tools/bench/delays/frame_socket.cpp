// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/frame_socket.hpp"

#include <bpf/bpf.h>
#include <cerrno>
#include <poll.h>
#include <sys/socket.h>

#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#define SO_BUSY_POLL_BUDGET 70
#endif

namespace tna::bench {

namespace {
constexpr std::size_t chunk = 4096;
/// The first take what comes, the others are written here.
constexpr unsigned incoming = ringEntries / 2;
constexpr int busyPollMicroseconds = 20;
constexpr int busyPollBudget = 64;
} // namespace

Result<std::unique_ptr<FrameSocket>> FrameSocket::open(const std::string& device, Settings settings,
                                                       bool polls, int sockets) {
    std::unique_ptr<FrameSocket> made{new FrameSocket(settings, polls)};
    if (!made->setUp(device))
        return failErrno(errno, "cannot make an AF_XDP socket on {}", device);
    const int socket = made->socket_.get();
    const std::uint32_t place = 0;
    if (bpf_map_update_elem(sockets, &place, &socket, BPF_ANY) != 0)
        return failErrno(errno, "cannot give frames of {} to a socket", device);
    for (unsigned i = 0; i < incoming; i++)
        made->fill_.push(i * chunk);
    return made;
}

Result<void> FrameSocket::tryOut(const std::string& device, Settings settings) {
    FrameSocket socket{settings, false};
    if (!socket.setUp(device))
        return failErrno(errno, "the driver of {} does not do it", device);
    return {};
}

bool FrameSocket::setUp(const std::string& device) {
    socket_.reset(::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0));
    memory_ = Mapping(ringEntries * chunk, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (!socket_ || !memory_)
        return false;
    xdp_umem_reg region{};
    region.addr = reinterpret_cast<std::uintptr_t>(memory_.at(0));
    region.len = ringEntries * chunk;
    region.chunk_size = chunk;
    const int size = ringEntries;
    const auto set = [&](int level, int option, const void* value, socklen_t length) {
        return ::setsockopt(socket_.get(), level, option, value, length) == 0;
    };
    xdp_mmap_offsets offsets{};
    socklen_t length = sizeof(offsets);
    if (!set(SOL_XDP, XDP_UMEM_REG, &region, sizeof(region)) ||
        !set(SOL_XDP, XDP_UMEM_FILL_RING, &size, sizeof(size)) ||
        !set(SOL_XDP, XDP_UMEM_COMPLETION_RING, &size, sizeof(size)) ||
        !set(SOL_XDP, XDP_RX_RING, &size, sizeof(size)) || !set(SOL_XDP, XDP_TX_RING, &size, sizeof(size)) ||
        ::getsockopt(socket_.get(), SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0 ||
        !fill_.map(socket_.get(), offsets.fr, static_cast<off_t>(XDP_UMEM_PGOFF_FILL_RING)) ||
        !completed_.map(socket_.get(), offsets.cr, static_cast<off_t>(XDP_UMEM_PGOFF_COMPLETION_RING)) ||
        !received_.map(socket_.get(), offsets.rx, XDP_PGOFF_RX_RING) ||
        !transmit_.map(socket_.get(), offsets.tx, XDP_PGOFF_TX_RING))
        return false;
    if (settings_.has(Knob::busyPoll)) {
        const int on = 1;
        if (!set(SOL_SOCKET, SO_PREFER_BUSY_POLL, &on, sizeof(on)) ||
            !set(SOL_SOCKET, SO_BUSY_POLL, &busyPollMicroseconds, sizeof(busyPollMicroseconds)) ||
            !set(SOL_SOCKET, SO_BUSY_POLL_BUDGET, &busyPollBudget, sizeof(busyPollBudget)))
            return false;
    }
    const unsigned flags = (settings_.has(Knob::zeroCopy) ? XDP_ZEROCOPY : XDP_COPY) |
                           (settings_.has(Knob::needWakeup) ? XDP_USE_NEED_WAKEUP : 0U);
    return bindToQueue(socket_.get(), device, 0, static_cast<std::uint16_t>(flags));
}

std::optional<FrameSocket::Received> FrameSocket::receive() {
    xdp_desc frame{};
    if (!received_.pop(frame))
        return {};
    return Received{frame.addr,
                    {reinterpret_cast<unsigned char*>(memory_.at(frame.addr)), std::size_t{frame.len}}};
}

bool FrameSocket::knowsNapi() const {
    unsigned napi = 0;
    socklen_t length = sizeof(napi);
    return ::getsockopt(socket_.get(), SOL_SOCKET, SO_INCOMING_NAPI_ID, &napi, &length) == 0 && napi != 0;
}

std::span<unsigned char> FrameSocket::outgoing() {
    nextOutgoing_ = (nextOutgoing_ + 1) % (ringEntries - incoming);
    return {reinterpret_cast<unsigned char*>(memory_.at((incoming + nextOutgoing_) * chunk)), chunk};
}

Result<void> FrameSocket::send(std::size_t length) {
    return transmit((incoming + nextOutgoing_) * chunk, length);
}

Result<void> FrameSocket::reflect(const Received& frame) {
    return transmit(frame.address, frame.bytes.size());
}

Result<void> FrameSocket::transmit(std::uint64_t address, std::size_t length) {
    takeCompleted();
    if (transmit_.full()) {
        // Like a wire that is busy: the frame is lost, its memory is not.
        if (address < incoming * chunk)
            fill_.push(address);
        return {};
    }
    transmit_.push({address, static_cast<std::uint32_t>(length), 0});
    // Where frames are copied, only the system call sends them, whatever the kernel says it wants.
    const bool asked = settings_.has(Knob::needWakeup) ? transmit_.wantsWakeUp() : true;
    if ((asked || !settings_.has(Knob::zeroCopy)) &&
        ::sendto(socket_.get(), nullptr, 0, MSG_DONTWAIT, nullptr, 0) < 0 && errno != EAGAIN &&
        errno != EBUSY && errno != ENOBUFS && errno != EINTR)
        return failErrno(errno, "cannot send by an AF_XDP socket");
    return {};
}

/// Memory that what comes is written to goes back there; the other is written anew in its turn.
void FrameSocket::takeCompleted() {
    for (std::uint64_t address = 0; completed_.pop(address);)
        if (address < incoming * chunk)
            fill_.push(address - address % chunk);
}

void FrameSocket::wait(std::chrono::nanoseconds patience) {
    takeCompleted();
    if (polls_) {
        pollfd one{socket_.get(), POLLIN, 0};
        const timespec most{patience.count() / 1'000'000'000, patience.count() % 1'000'000'000};
        (void)::ppoll(&one, 1, &most, nullptr);
    } else if (settings_.has(Knob::busyPoll) || (settings_.has(Knob::needWakeup) && fill_.wantsWakeUp())) {
        (void)::recvfrom(socket_.get(), nullptr, 0, MSG_DONTWAIT, nullptr, nullptr);
    }
}

} // namespace tna::bench
