// SPDX-License-Identifier: Apache-2.0
#include "packet.hpp"

#include <algorithm>

namespace tna::balancer {

namespace {
using Bytes = std::span<const std::uint8_t>;
constexpr std::size_t ethernet = 14, tag = 4, header4 = 20, header6 = 40;

/// `whole`: all of the packet has to be there, as in a frame; errors quote only the beginning of one.
Kind network4(Bytes bytes, Headers& headers, bool whole) {
    const auto at = headers.network;
    if (bytes.size() < at + header4)
        return Kind::malformed;
    const std::size_t length = (bytes[at] & 15U) * 4U;
    const std::size_t total = word(bytes, at + 2);
    if (bytes[at] >> 4U != 4 || length < header4 || total < length || (whole && at + total > bytes.size()))
        return Kind::malformed;
    headers.end = std::min(at + total, bytes.size());
    headers.protocol = bytes[at + 9];
    headers.from.address = Address::four(&bytes[at + 12]);
    headers.to.address = Address::four(&bytes[at + 16]);
    headers.transport = at + length;
    if (length != header4)
        return Kind::options;
    return (word(bytes, at + 6) & 0x3fffU) != 0 ? Kind::fragment : Kind::segment;
}

Kind network6(Bytes bytes, Headers& headers, bool whole) {
    const auto at = headers.network;
    if (bytes.size() < at + header6 || bytes[at] >> 4U != 6)
        return Kind::malformed;
    const std::size_t total = header6 + word(bytes, at + 4);
    if (whole && at + total > bytes.size())
        return Kind::malformed;
    headers.end = std::min(at + total, bytes.size());
    headers.protocol = bytes[at + 6];
    headers.from.address = Address::six(&bytes[at + 8]);
    headers.to.address = Address::six(&bytes[at + 24]);
    headers.transport = at + header6;
    constexpr std::uint8_t hopByHop = 0, routing = 43, fragment = 44, authentication = 51, destination = 60;
    switch (headers.protocol) {
    case fragment:
        return Kind::fragment;
    case hopByHop:
    case routing:
    case authentication:
    case destination:
        return Kind::options;
    default:
        // Such an address in a header of IPv6 would be taken for one of IPv4.
        return headers.from.address.isFour() || headers.to.address.isFour() ? Kind::otherKind : Kind::segment;
    }
}

Kind network(Bytes bytes, Headers& headers, bool six, bool whole) {
    return six ? network6(bytes, headers, whole) : network4(bytes, headers, whole);
}

/// Ports, of TCP and UDP.
Kind segment(Bytes bytes, Headers& headers, bool whole) {
    if (headers.protocol != tcp && headers.protocol != udp)
        return Kind::otherKind;
    const auto at = headers.transport;
    const std::size_t there = headers.end - std::min(at, headers.end);
    constexpr std::size_t quoted = 8, shortestTcp = 20;
    if (there < quoted || (whole && headers.protocol == tcp && there < shortestTcp))
        return Kind::malformed;
    if (whole && headers.protocol == tcp) {
        const std::size_t length = (bytes[at + 12] >> 4U) * 4U;
        if (length < shortestTcp || length > there)
            return Kind::malformed;
        headers.flags = bytes[at + 13];
    }
    if (whole && headers.protocol == udp && (word(bytes, at + 4) < quoted || word(bytes, at + 4) > there))
        return Kind::malformed;
    headers.from.port = word(bytes, at);
    headers.to.port = word(bytes, at + 2);
    return Kind::segment;
}

/// Errors that say what has become of a packet; not redirects, which are between neighbours.
bool isError(std::uint8_t type, bool six) {
    constexpr std::uint8_t unreachable = 3, timeExceeded = 11, parameterProblem = 12;
    return six ? type >= 1 && type <= 4
               : type == unreachable || type == timeExceeded || type == parameterProblem;
}

Kind error(Bytes bytes, Packet& packet, bool six) {
    constexpr std::size_t header = 8;
    const auto& outer = packet.outer;
    if (outer.end < outer.transport + header)
        return Kind::malformed;
    if (!isError(bytes[outer.transport], six))
        return Kind::otherKind;
    packet.quoted.network = outer.transport + header;
    bytes = bytes.first(outer.end);
    // What is quoted may be anything: what is not understood is Linux's, with the error.
    const auto kind = network(bytes, packet.quoted, six, false);
    if (kind != Kind::segment)
        return kind == Kind::malformed ? Kind::otherKind : kind;
    return segment(bytes, packet.quoted, false) == Kind::segment ? Kind::error : Kind::otherKind;
}
} // namespace

Packet parse(Bytes frame) {
    Packet packet;
    std::size_t at = ethernet;
    if (frame.size() < at)
        return packet;
    auto type = word(frame, at - 2);
    for (int tags = 0; tags < 2 && (type == 0x8100 || type == 0x88a8); tags++) {
        at += tag;
        if (frame.size() < at)
            return packet;
        type = word(frame, at - 2);
    }
    const bool six = type == 0x86dd;
    if (!six && type != 0x0800)
        return packet;
    packet.outer.network = at;
    packet.kind = network(frame, packet.outer, six, true);
    if (packet.kind != Kind::segment)
        return packet;
    packet.kind = packet.outer.protocol == (six ? icmp6 : icmp) ? error(frame, packet, six)
                                                                : segment(frame, packet.outer, true);
    return packet;
}

} // namespace tna::balancer
