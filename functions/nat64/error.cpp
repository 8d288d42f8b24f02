// SPDX-License-Identifier: Apache-2.0
// ICMP errors, with the packets that are quoted in them.
#include "headers.hpp"
#include "icmp.hpp"

#include <cstring>

namespace tna::nat64 {

namespace {

constexpr std::size_t longestError4 = 576; ///< RFC 1812, 4.3.2.3

ErrorHead headOf(const Parsed& error) {
    return {error.transport[0], error.transport[1], load32(error.transport + 4)};
}

void writeHead(std::uint8_t* at, const ErrorHead& head) {
    at[0] = head.type;
    at[1] = head.code;
    store16(at + 2, 0);
    store32(at + 4, head.rest);
}

/// Bytes of the quoted packet, where others follow it (RFC 4884); those are left out.
std::size_t quotedLength(const Parsed& error, bool six) {
    const auto all = error.present - icmpHeader;
    const auto type = error.transport[0];
    std::size_t said = 0;
    if (six && (type == 1 || type == 3))
        said = error.transport[4] * std::size_t{8};
    else if (!six && (type == 3 || type == 11 || type == 12))
        said = error.transport[5] * std::size_t{4};
    return said == 0 ? all : std::min(all, said);
}

/// What the quoted packet's transport header says becomes what its receiver knows.
void fixQuoted(const Parsed& quoted, bool toSix, std::uint16_t before, std::uint16_t after,
               const NewPorts& ports) {
    if (quoted.protocol != icmp4 && quoted.protocol != icmp6)
        return fixTransport(quoted, before, after, ports);
    if (quoted.offset != 0)
        return;
    const auto type = toSix ? echoTo6(quoted.transport[0]) : echoTo4(quoted.transport[0]);
    fixEcho(quoted, *type, before, after, ports);
}

Reason againstQuoted(const Parsed& quoted, bool six) {
    if (quoted.protocol != (six ? icmp6 : icmp4))
        return quoted.protocol == icmp4 || quoted.protocol == icmp6 || isOfIpv6Only(quoted.protocol)
                   ? Reason::protocol
                   : Reason::none;
    if (quoted.isFragment())
        return Reason::icmpFragment;
    return six ? (echoTo4(quoted.transport[0]) ? Reason::none : Reason::icmpType)
               : (echoTo6(quoted.transport[0]) ? Reason::none : Reason::icmpType);
}

} // namespace

Reason quotedOf(const Parsed& error, bool six, Parsed& quoted) {
    if (error.isFragment())
        return Reason::icmpFragment;
    const auto sum =
        fold(std::uint64_t{sumOf(error.payload())} + (six ? icmp6Sum(ends6(error), error.stated) : 0U));
    if (sum != 0xffff)
        return Reason::icmpChecksum;
    const std::span<std::uint8_t> bytes(error.transport + icmpHeader, quotedLength(error, six));
    const auto reason = six ? parse6(bytes, Extent::quoted, quoted) : parse4(bytes, Extent::quoted, quoted);
    if (reason != Reason::none)
        return reason;
    if (quoted.offset == 0 && quoted.present < 8)
        return Reason::malformed;
    return againstQuoted(quoted, six);
}

Reason errorTo4(Buffer& packet, const Parsed& error, const Parsed& quoted, const Ends4& ends,
                const Ends4& quotedEnds, const NewPorts& quotedPorts, std::uint16_t id) {
    const auto head = errorHeadTo4(headOf(error));
    if (!head)
        return Reason::icmpType;
    const bool echo = quoted.protocol == icmp6;
    fixQuoted(quoted, false, echo ? icmp6Sum(ends6(quoted), quoted.stated) : sumOf(ends6(quoted)),
              echo ? 0 : sumOf(quotedEnds), quotedPorts);
    constexpr auto grown = header4 + icmpHeader + header4;
    auto* const at = quoted.transport - grown;
    packet.data = at;
    packet.length = std::min(grown + quoted.present, longestError4);
    write4(
        at,
        {.traffic = error.traffic, .length = packet.length, .id = id, .hops = error.hops, .protocol = icmp4},
        ends);
    auto* const icmp = at + header4;
    writeHead(icmp, *head);
    const bool fragments = quoted.isFragment() || quoted.atomic;
    const auto flags =
        fragments ? quoted.offset | (quoted.more ? moreFragments4 : 0U) : std::uint32_t{dontFragment4};
    write4(icmp + icmpHeader,
           {.traffic = quoted.traffic,
            .length = header4 + quoted.stated,
            .id = static_cast<std::uint16_t>(fragments ? quoted.id : 0),
            .fragment = static_cast<std::uint16_t>(flags),
            .hops = quoted.hops,
            .protocol = echo ? static_cast<std::uint8_t>(icmp4) : quoted.protocol},
           quotedEnds);
    store16(icmp + 2, static_cast<std::uint16_t>(~sumOf({icmp, packet.length - header4})));
    return Reason::none;
}

Reason errorTo6(Buffer& packet, const Parsed& error, const Parsed& quoted, const Ends6& ends,
                const Ends6& quotedEnds, const NewPorts& quotedPorts) {
    const auto head = errorHeadTo6(headOf(error), header4 + quoted.stated);
    if (!head)
        return Reason::icmpType;
    const auto inner = header6 + (quoted.isFragment() ? fragmentHeader : 0);
    const auto grown = header6 + icmpHeader + inner;
    if (static_cast<std::size_t>(quoted.transport - packet.begin) < grown)
        return Reason::noRoom;
    const bool echo = quoted.protocol == icmp4;
    fixQuoted(quoted, true, echo ? 0 : sumOf(ends4(quoted)),
              echo ? icmp6Sum(quotedEnds, quoted.stated) : sumOf(quotedEnds), quotedPorts);
    auto* const at = quoted.transport - grown;
    packet.data = at;
    packet.length = std::min(grown + quoted.present, lowestMtu6);
    const auto length = packet.length - header6;
    write6(at, {.traffic = error.traffic, .length = length, .next = icmp6, .hops = error.hops}, ends);
    auto* const icmp = at + header6;
    writeHead(icmp, *head);
    const auto next = echo ? static_cast<std::uint8_t>(icmp6) : quoted.protocol;
    write6(icmp + icmpHeader,
           {.traffic = quoted.traffic,
            .length = inner - header6 + quoted.stated,
            .next = quoted.isFragment() ? fragmentNext : next,
            .hops = quoted.hops},
           quotedEnds);
    if (quoted.isFragment())
        writeFragment(icmp + icmpHeader + header6, next, quoted.offset, quoted.more, quoted.id);
    const auto sum = fold(std::uint64_t{icmp6Sum(ends, length)} + sumOf({icmp, length}));
    store16(icmp + 2, static_cast<std::uint16_t>(~sum));
    return Reason::none;
}

bool complain4(Buffer& packet, const Parsed& parsed, const Complaint& complaint) {
    constexpr auto grown = header4 + icmpHeader;
    if (packet.front() < grown)
        return false;
    packet.data -= grown;
    packet.length = std::min(packet.length + grown, longestError4);
    write4(packet.data, {.length = packet.length, .protocol = icmp4}, {parsed.destination4, parsed.source4});
    auto* const icmp = packet.data + header4;
    writeHead(icmp, {complaint.type, complaint.code, complaint.rest});
    store16(icmp + 2, static_cast<std::uint16_t>(~sumOf({icmp, packet.length - header4})));
    return true;
}

bool complain6(Buffer& packet, const Parsed& parsed, const Complaint& complaint) {
    constexpr auto grown = header6 + icmpHeader;
    if (packet.front() < grown)
        return false;
    packet.data -= grown;
    packet.length = std::min(packet.length + grown, lowestMtu6);
    const Ends6 ends{parsed.destination6, parsed.source6};
    const auto length = packet.length - header6;
    write6(packet.data, {.length = length, .next = icmp6}, ends);
    auto* const icmp = packet.data + header6;
    writeHead(icmp, {complaint.type, complaint.code, complaint.rest});
    const auto sum = fold(std::uint64_t{icmp6Sum(ends, length)} + sumOf({icmp, length}));
    store16(icmp + 2, static_cast<std::uint16_t>(~sum));
    return true;
}

} // namespace tna::nat64
