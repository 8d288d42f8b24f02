// SPDX-License-Identifier: Apache-2.0
#include "bench/traffic/generators/rings.hpp"

#include <cerrno>
#include <chrono>
#include <net/if.h>
#include <sys/socket.h>
#include <thread>

namespace tna::bench {

namespace {
constexpr auto queuePatience = std::chrono::seconds(5);
}

bool bindToQueue(int socket, const std::string& device, unsigned queue, std::uint16_t flags) {
    sockaddr_xdp address{};
    address.sxdp_family = AF_XDP;
    address.sxdp_flags = flags;
    address.sxdp_ifindex = ::if_nametoindex(device.c_str());
    address.sxdp_queue_id = queue;
    const auto deadline = std::chrono::steady_clock::now() + queuePatience;
    while (::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0) {
        if (errno != EBUSY || std::chrono::steady_clock::now() > deadline)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

} // namespace tna::bench
