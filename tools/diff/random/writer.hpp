// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/random/topology.hpp"

namespace tna::diff {

/// The fields of an IPv4 header.
struct Header4 {
    Address4 from = 0;
    Address4 to = 0;
    std::uint8_t tos = 0;
    std::uint16_t id = 0;
    std::uint16_t fragment = 0;
    std::uint8_t ttl = 64;
    std::uint8_t protocol = 17;
    std::vector<std::uint8_t> options; ///< a multiple of 4
};

/// The fields of an IPv6 header, and what comes between it and the upper layer.
struct Header6 {
    Address6 from{};
    Address6 to{};
    std::uint32_t flow = 0; ///< class and label
    std::uint8_t hops = 64;
    std::uint8_t protocol = 17;
    std::uint8_t first = 17;              ///< the first extension's type, or the protocol
    std::vector<std::uint8_t> extensions; ///< each naming the next one
};

/// Puts frames together from the front to the back; then lengths and checksums are set right.
class Writer {
public:
    Writer(const Mac& to, const Mac& from);
    Writer& tag(unsigned protocol, unsigned tci);
    Writer& type(unsigned type);
    Writer& bytes(const std::vector<std::uint8_t>& more);
    /// Bytes that count.
    Writer& filling(std::size_t size, unsigned start = 0);

    /// IP with this payload behind it; checksums of UDP, TCP, ICMP are set.
    Writer& packet(const Header4& header, std::vector<std::uint8_t> payload);
    Writer& packet(const Header6& header, std::vector<std::uint8_t> payload);
    [[nodiscard]] Frame done() { return std::move(frame_); }

private:
    void put16(unsigned value);
    Frame frame_;
};

[[nodiscard]] std::vector<std::uint8_t> udp(unsigned from, unsigned to, std::size_t size, unsigned start);
[[nodiscard]] std::vector<std::uint8_t> tcp(unsigned from, unsigned to, std::size_t size, unsigned start,
                                            std::uint32_t sequence, std::uint8_t flags);
/// Of ICMP or ICMPv6: both have type, code, checksum, and four bytes more.
[[nodiscard]] std::vector<std::uint8_t> icmp(unsigned type, unsigned code, unsigned id, std::size_t size,
                                             unsigned start);

/// Sets the IPv4 header's checksum of an untagged frame right again.
void finishHeader4(Frame& frame);

} // namespace tna::diff
