// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "address.hpp"
#include "reasons.hpp"

#include <span>

namespace tna::nat64 {

/// A packet in memory that is free before it: headers grow to the front.
struct Buffer {
    std::uint8_t* begin = nullptr; ///< of that memory
    std::uint8_t* data = nullptr;
    std::size_t length = 0;
    [[nodiscard]] std::size_t front() const { return static_cast<std::size_t>(data - begin); }
    [[nodiscard]] std::span<std::uint8_t> bytes() const { return {data, length}; }
    [[nodiscard]] bool isSix() const { return length > 0 && data[0] >> 4U == 6; }
};

enum Protocol : std::uint8_t {
    icmp4 = 1,
    igmp = 2, ///< of one link: it does not leave it
    tcp = 6,
    udp = 17,
    dccp = 33,
    icmp6 = 58,
    udpLite = 136,
};

constexpr std::size_t header4 = 20;       ///< without options
constexpr std::size_t header6 = 40;       ///< without what follows it
constexpr std::size_t fragmentHeader = 8; ///< of IPv6
constexpr std::size_t icmpHeader = 8;     ///< of both

/// What the headers say, of IPv4 or IPv6.
struct Parsed {
    Address4 source4 = 0, destination4 = 0;
    Address6 source6{}, destination6{};
    std::uint8_t traffic = 0; ///< type of service, traffic class
    std::uint8_t hops = 0;
    std::uint8_t protocol = 0; ///< behind all extension headers
    bool dontFragment = false;
    bool atomic = false; ///< a fragment header that says that it is all of the packet
    bool more = false;
    std::uint32_t id = 0;
    std::uint16_t offset = 0;          ///< in units of 8 bytes
    std::uint8_t* transport = nullptr; ///< what is behind all of these headers
    std::size_t present = 0;           ///< bytes of that
    std::size_t stated = 0;            ///< bytes of that by the headers, more than are present in ICMP errors
    std::uint32_t place = 0;           ///< of a header that is a reason against the packet
    bool turned = false; ///< not by the headers: an IPv6 host has sent it to another one, by way of IPv4

    [[nodiscard]] bool isFragment() const { return more || offset != 0; }
    [[nodiscard]] bool isFirst() const { return more && offset == 0; } ///< of several
    [[nodiscard]] bool has(std::size_t bytes) const { return offset == 0 && present >= bytes; }
    [[nodiscard]] std::span<std::uint8_t> payload() const { return {transport, present}; }
    [[nodiscard]] bool hasPorts() const {
        return protocol == tcp || protocol == udp || protocol == dccp || protocol == udpLite;
    }
};

/// Whether a packet is whole, or the beginning of one that is in an ICMP error.
enum class Extent : std::uint8_t { whole, quoted };

/// Reason::none: it is well-formed. What is behind it (padding) is left out.
[[nodiscard]] Reason parse4(std::span<std::uint8_t> packet, Extent extent, Parsed& parsed);
[[nodiscard]] Reason parse6(std::span<std::uint8_t> packet, Extent extent, Parsed& parsed);

/// Where a protocol's checksum is, which looks at addresses as well; 0: it has none.
[[nodiscard]] std::size_t checksumPlace(std::uint8_t protocol);
/// Numbers that are extension headers of IPv6, or mean something in IPv6 only.
[[nodiscard]] bool isOfIpv6Only(std::uint8_t protocol);

[[nodiscard]] bool isError4(std::uint8_t type);
[[nodiscard]] inline bool isError6(std::uint8_t type) {
    return type < 128;
}

} // namespace tna::nat64
