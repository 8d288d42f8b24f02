// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tna::nat64 {

/// What is known of a TCP connection (RFC 6146, 3.5.2.2); who has sent a FIN, who has begun.
enum class TcpState : std::uint8_t {
    begunBy4,
    begunBy6,
    established,
    finishedBy4,
    finishedBy6,
    finished,
    transitory, ///< reset, perhaps
};

enum class Side : std::uint8_t { four, six };

/// How long a session is kept without packets.
enum class Patience : std::uint8_t { icmp, udp, tcpTransitory, tcpEstablished };
constexpr std::uint8_t patiences = 4;

struct TcpStep {
    TcpState state = TcpState::begunBy6;
    Patience patience = Patience::tcpTransitory;
    bool refresh = true; ///< the packet counts as life
};

/// `flags`: the header's byte of them.
[[nodiscard]] bool beginsConnection(std::uint8_t flags);
[[nodiscard]] TcpStep afterPacket(TcpState state, Side from, std::uint8_t flags);

} // namespace tna::nat64
