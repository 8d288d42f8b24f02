// SPDX-License-Identifier: Apache-2.0
#include "headers.hpp"

namespace tna::nat64 {

namespace {
/// IPv4 packets up to this length may be fragmented: IPv6 has them whole by any way (RFC 7915, 5.1).
constexpr std::size_t fragmentable = 1260;

/// UDP over IPv4 that has no checksum gets one, or is a reason.
Reason zeroChecksum(const Parsed& parsed, const Limits& limits, bool& compute) {
    compute = parsed.protocol == udp && parsed.offset == 0 && load16(parsed.transport + 6) == 0;
    if (!compute)
        return Reason::none;
    if (parsed.isFragment() || limits.dropZeroChecksum)
        return Reason::zeroChecksum;
    const auto length = load16(parsed.transport + 4);
    return length >= 8 && length <= parsed.present ? Reason::none : Reason::malformed;
}

void computeUdp(const Parsed& parsed, std::uint16_t addresses) {
    const std::size_t length = load16(parsed.transport + 4);
    const auto sum = fold(std::uint64_t{addresses} + udp + length + sumOf(parsed.payload().first(length)));
    const auto checksum = static_cast<std::uint16_t>(~sum);
    store16(parsed.transport + 6, checksum == 0 ? 0xffff : checksum);
}
} // namespace

void fixTransport(const Parsed& parsed, std::uint16_t before, std::uint16_t after, const NewPorts& ports) {
    std::uint32_t old = before, fresh = after;
    if (ports && parsed.hasPorts() && parsed.has(4)) {
        old += load32(parsed.transport) >> 16U;
        old += load16(parsed.transport + 2);
        store16(parsed.transport, ports->source);
        store16(parsed.transport + 2, ports->destination);
        fresh += ports->source + std::uint32_t{ports->destination};
    }
    const auto place = checksumPlace(parsed.protocol);
    if (place == 0 || !parsed.has(place + 2))
        return;
    auto checksum = load16(parsed.transport + place);
    if (parsed.protocol == udp && checksum == 0)
        return; // has none
    checksum = adjusted(checksum, fold(old), fold(fresh));
    if (checksum == 0 && (parsed.protocol == udp || parsed.protocol == udpLite))
        checksum = 0xffff;
    store16(parsed.transport + place, checksum);
}

void fixEcho(const Parsed& parsed, std::uint8_t type, std::uint16_t before, std::uint16_t after,
             const NewPorts& ports) {
    std::uint32_t old = before + std::uint32_t{load16(parsed.transport)} + load16(parsed.transport + 4);
    parsed.transport[0] = type;
    if (ports)
        store16(parsed.transport + 4, ports->source);
    std::uint32_t fresh = after + std::uint32_t{load16(parsed.transport)} + load16(parsed.transport + 4);
    store16(parsed.transport + 2, adjusted(load16(parsed.transport + 2), fold(old), fold(fresh)));
}

Reason to4(Buffer& packet, const Parsed& parsed, const Ends4& ends, const NewPorts& ports, std::uint16_t id) {
    Fields4 fields{.traffic = parsed.traffic,
                   .length = header4 + parsed.present,
                   .hops = parsed.hops,
                   .protocol = parsed.protocol};
    if (parsed.isFragment() || parsed.atomic) {
        fields.id = static_cast<std::uint16_t>(parsed.id);
        fields.fragment = static_cast<std::uint16_t>(parsed.offset | (parsed.more ? moreFragments4 : 0U));
    } else if (fields.length <= fragmentable) {
        fields.id = id;
    } else {
        fields.fragment = dontFragment4;
    }
    if (parsed.protocol == icmp6) {
        if (parsed.isFragment())
            return Reason::icmpFragment;
        const auto type = echoTo4(parsed.transport[0]);
        if (!type)
            return Reason::icmpType;
        fields.protocol = icmp4;
        fixEcho(parsed, *type, icmp6Sum(ends6(parsed), parsed.stated), 0, ports);
    } else if (parsed.protocol == icmp4 || isOfIpv6Only(parsed.protocol)) {
        return Reason::protocol;
    } else {
        fixTransport(parsed, sumOf(ends6(parsed)), sumOf(ends), ports);
    }
    packet.data = parsed.transport - header4;
    packet.length = fields.length;
    write4(packet.data, fields, ends);
    return Reason::none;
}

Reason to6(Buffer& packet, const Parsed& parsed, const Ends6& ends, const NewPorts& ports,
           const Limits& limits) {
    const bool tooLong = !parsed.dontFragment && header6 + parsed.present > limits.mtu6;
    const bool fragments = parsed.isFragment() || tooLong;
    const auto grown = header6 + (fragments ? fragmentHeader : 0);
    // one that is whole is too long where Linux says so
    if (parsed.dontFragment && fragments && grown + parsed.present > limits.mtu6)
        return Reason::tooLong;
    if (static_cast<std::size_t>(parsed.transport - packet.begin) < grown)
        return Reason::noRoom;
    auto next = parsed.protocol;
    if (parsed.protocol == icmp4) {
        if (parsed.isFragment())
            return Reason::icmpFragment;
        const auto type = echoTo6(parsed.transport[0]);
        if (!type)
            return Reason::icmpType;
        next = icmp6;
        fixEcho(parsed, *type, 0, icmp6Sum(ends, parsed.stated), ports);
    } else if (parsed.protocol == igmp || parsed.protocol == icmp6 || isOfIpv6Only(parsed.protocol)) {
        return Reason::protocol;
    } else {
        bool compute = false;
        if (const auto reason = zeroChecksum(parsed, limits, compute); reason != Reason::none)
            return reason;
        fixTransport(parsed, sumOf(ends4(parsed)), sumOf(ends), ports);
        if (compute)
            computeUdp(parsed, sumOf(ends));
    }
    packet.data = parsed.transport - grown;
    packet.length = grown + parsed.present;
    write6(packet.data,
           {.traffic = parsed.traffic,
            .length = packet.length - header6,
            .next = fragments ? fragmentNext : next,
            .hops = parsed.hops},
           ends);
    if (fragments)
        writeFragment(packet.data + header6, next, parsed.offset, parsed.more, parsed.id);
    return Reason::none;
}

} // namespace tna::nat64
