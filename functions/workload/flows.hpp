// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tna::workload {

/// What a connection is told by; all but the protocol in network order.
struct Flow {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint16_t fromPort = 0;
    std::uint16_t toPort = 0;
    std::uint32_t protocol = 0;
    bool operator==(const Flow&) const = default;
};

/// Where a session's packets go, in network order.
struct Backend {
    std::uint32_t address = 0;
    std::uint16_t port = 0;
    bool operator==(const Backend&) const = default;
};

/// UDP to one service, from sources that are counted from 10.0.0.0: those that a firewall drops.
[[nodiscard]] Flow blockedFlow(std::uint32_t number);
/// The same from 10.128.0.0: those of sessions.
[[nodiscard]] Flow sessionFlow(std::uint32_t number);
/// One of 16 (172.16.0.0 to .15, ports 8080 to 8095), by the lowest bits of the session's source.
[[nodiscard]] Backend backendOf(const Flow& flow);
/// Sources of each kind: more have no addresses.
constexpr std::uint32_t mostFlows = 1U << 23U;

} // namespace tna::workload
