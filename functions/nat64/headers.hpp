// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bytes.hpp"
#include "rewrite.hpp"

#include <algorithm>

namespace tna::nat64 {

struct Fields4 {
    std::uint8_t traffic = 0;
    std::size_t length = 0; ///< of all
    std::uint16_t id = 0;
    std::uint16_t fragment = 0; ///< flags and offset, as in the header
    std::uint8_t hops = 64;
    std::uint8_t protocol = 0;
};
constexpr std::uint16_t dontFragment4 = 0x4000;
constexpr std::uint16_t moreFragments4 = 0x2000;

inline void write4(std::uint8_t* at, const Fields4& fields, const Ends4& ends) {
    at[0] = 0x45;
    at[1] = fields.traffic;
    store16(at + 2, static_cast<std::uint32_t>(fields.length));
    store16(at + 4, fields.id);
    store16(at + 6, fields.fragment);
    at[8] = fields.hops;
    at[9] = fields.protocol;
    store16(at + 10, 0);
    store32(at + 12, ends.source);
    store32(at + 16, ends.destination);
    store16(at + 10, static_cast<std::uint16_t>(~sumOf({at, header4})));
}

struct Fields6 {
    std::uint8_t traffic = 0;
    std::size_t length = 0; ///< behind the header
    std::uint8_t next = 0;
    std::uint8_t hops = 64;
};

inline void write6(std::uint8_t* at, const Fields6& fields, const Ends6& ends) {
    store32(at, 6U << 28U | static_cast<std::uint32_t>(fields.traffic) << 20U);
    store16(at + 4, static_cast<std::uint32_t>(fields.length));
    at[6] = fields.next;
    at[7] = fields.hops;
    std::ranges::copy(ends.source, at + 8);
    std::ranges::copy(ends.destination, at + 24);
}

constexpr std::uint8_t fragmentNext = 44;

inline void writeFragment(std::uint8_t* at, std::uint8_t next, std::uint16_t offset, bool more,
                          std::uint32_t id) {
    at[0] = next;
    at[1] = 0;
    store16(at + 2, static_cast<std::uint32_t>(offset) << 3U | (more ? 1U : 0U));
    store32(at + 4, id);
}

/// What checksums of transport protocols have of addresses.
[[nodiscard]] inline std::uint16_t sumOf(const Ends4& ends) {
    return fold(std::uint64_t{ends.source} + ends.destination);
}
[[nodiscard]] inline std::uint16_t sumOf(const Ends6& ends) {
    return fold(std::uint64_t{sumOf(std::span<const std::uint8_t>(ends.source))} +
                sumOf(std::span<const std::uint8_t>(ends.destination)));
}
/// The same of ICMPv6, which has lengths and the protocol as well.
[[nodiscard]] inline std::uint16_t icmp6Sum(const Ends6& ends, std::size_t length) {
    return fold(std::uint64_t{sumOf(ends)} + length + icmp6);
}
[[nodiscard]] inline Ends4 ends4(const Parsed& parsed) {
    return {parsed.source4, parsed.destination4};
}
[[nodiscard]] inline Ends6 ends6(const Parsed& parsed) {
    return {parsed.source6, parsed.destination6};
}

/// Ports and checksum of what has both; addresses summed up before and after.
void fixTransport(const Parsed& parsed, std::uint16_t before, std::uint16_t after, const NewPorts& ports);
/// An echo request or reply becomes one of the other version.
void fixEcho(const Parsed& parsed, std::uint8_t type, std::uint16_t before, std::uint16_t after,
             const NewPorts& ports);

constexpr std::uint8_t echoReply4 = 0, echoRequest4 = 8, echoRequest6 = 128, echoReply6 = 129;
[[nodiscard]] inline std::optional<std::uint8_t> echoTo6(std::uint8_t type) {
    if (type == echoRequest4)
        return echoRequest6;
    return type == echoReply4 ? std::optional(echoReply6) : std::nullopt;
}
[[nodiscard]] inline std::optional<std::uint8_t> echoTo4(std::uint8_t type) {
    if (type == echoRequest6)
        return echoRequest4;
    return type == echoReply6 ? std::optional(echoReply4) : std::nullopt;
}

} // namespace tna::nat64
