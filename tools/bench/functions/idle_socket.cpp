// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/idle_socket.hpp"

#include <cerrno>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sys/mman.h>
#include <sys/socket.h>

namespace tna::bench {

namespace {
constexpr unsigned frames = 1024;
constexpr unsigned frameSize = 2048;
constexpr std::size_t bytes = static_cast<std::size_t>(frames) * frameSize;
} // namespace

Result<IdleSocket> IdleSocket::bind(const std::string& device) {
    UniqueFd fd{::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0)};
    if (!fd)
        return failErrno(errno, "cannot open an AF_XDP socket");
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return failErrno(errno, "there is no memory for an AF_XDP socket");
    IdleSocket made{std::move(fd), memory};
    const xdp_umem_reg registered{
        .addr = reinterpret_cast<std::uintptr_t>(memory), .len = bytes, .chunk_size = frameSize};
    const auto set = [&](int option, const void* value, socklen_t size) {
        return ::setsockopt(made.socket_.get(), SOL_XDP, option, value, size) == 0;
    };
    bool ready = set(XDP_UMEM_REG, &registered, sizeof(registered));
    for (const int ring : {XDP_UMEM_FILL_RING, XDP_UMEM_COMPLETION_RING, XDP_RX_RING, XDP_TX_RING})
        ready = ready && set(ring, &frames, sizeof(frames));
    sockaddr_xdp address{};
    address.sxdp_family = AF_XDP;
    address.sxdp_flags = XDP_COPY | XDP_USE_NEED_WAKEUP;
    address.sxdp_ifindex = ::if_nametoindex(device.c_str());
    if (!ready ||
        ::bind(made.socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        return failErrno(errno, "cannot bind an AF_XDP socket to {}", device);
    return made;
}

IdleSocket::~IdleSocket() {
    if (memory_ == nullptr)
        return;
    socket_.reset();
    ::munmap(memory_, bytes);
}

} // namespace tna::bench
