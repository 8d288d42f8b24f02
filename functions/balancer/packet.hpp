// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "address.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tna::balancer {

constexpr std::uint8_t icmp = 1, tcp = 6, udp = 17, icmp6 = 58;

/// Offsets of what is in a frame; from and to are those of the packet.
struct Headers {
    std::size_t network = 0;   ///< of the header of IPv4 or IPv6
    std::size_t transport = 0; ///< of TCP's, UDP's or ICMP's
    std::size_t end = 0;       ///< behind the packet, or behind what there is of it
    std::uint8_t protocol = 0;
    Endpoint from;
    Endpoint to;
    std::uint8_t flags = 0; ///< of TCP
};
constexpr std::uint8_t finFlag = 1, synFlag = 2, rstFlag = 4, ackFlag = 16;

enum class Kind {
    segment,   ///< of TCP or UDP
    error,     ///< of ICMP, about a segment
    otherKind, ///< nothing that is balanced
    options,   ///< IPv4 with options, IPv6 with more headers
    fragment,
    malformed, ///< lengths contradict each other
};

struct Packet {
    Kind kind = Kind::otherKind;
    Headers outer;
    Headers quoted; ///< of the packet that an error is about: who had sent it is its `from`
};

[[nodiscard]] Packet parse(std::span<const std::uint8_t> frame);

[[nodiscard]] inline std::uint16_t word(std::span<const std::uint8_t> bytes, std::size_t at) {
    return static_cast<std::uint16_t>(bytes[at] << 8U | bytes[at + 1]);
}

} // namespace tna::balancer
