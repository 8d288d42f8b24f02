// SPDX-License-Identifier: Apache-2.0
#include "bytes.hpp"
#include "mapping.hpp"

namespace tna::nat64 {

namespace {

/// What a session is known by, as the packet has it.
struct Flow {
    Kind kind = Kind::udp;
    Ports ports;
    std::uint8_t flags = 0; ///< of TCP
};

/// Of packets that have ports: not of fragments behind the first one.
Reason flowOf(const Parsed& parsed, Flow& flow) {
    constexpr std::size_t tcpFlags = 13;
    switch (parsed.protocol) {
    case tcp:
    case udp:
        flow.kind = parsed.protocol == tcp ? Kind::tcp : Kind::udp;
        flow.ports = {load16(parsed.transport), load16(parsed.transport + 2)};
        if (parsed.protocol == tcp && parsed.present > tcpFlags)
            flow.flags = parsed.transport[tcpFlags];
        return Reason::none;
    case icmp4:
    case icmp6: {
        if (parsed.isFragment())
            return Reason::icmpFragment;
        const auto type = parsed.transport[0];
        if (type != 0 && type != 8 && type != 128 && type != 129)
            return Reason::icmpType;
        const auto id = load16(parsed.transport + 4);
        flow = {Kind::icmp, {id, id}, 0};
        return Reason::none;
    }
    default:
        return Reason::protocol;
    }
}

/// ICMP has one number, which is the IPv6 host's.
Remote remoteOf(const Flow& flow, Address4 address, std::uint16_t port) {
    return {address, flow.kind == Kind::icmp ? std::uint16_t{0} : port};
}

} // namespace

bool Stateful::isOurs(Address4 destination) const {
    return sessions_.pool().contains(destination);
}

bool Stateful::isOurs(const Address6& destination) const {
    return addresses_.prefix.extract(destination).has_value();
}

bool Stateful::turnsRound(const Address6& /*destination*/, Address4 translated) const {
    return isOurs(translated);
}

Reason Stateful::from6(const Parsed& parsed, std::uint32_t now, Ends4& ends, NewPorts& ports) {
    if (const auto reason = extractFrom(addresses_, parsed.destination6, ends.destination);
        reason != Reason::none)
        return reason;
    if (!isUnicast(parsed.source6) || addresses_.prefix.extract(parsed.source6))
        return Reason::address; // else they could come round again (RFC 6146, 3.5)
    if (parsed.offset != 0) {
        const auto* const whose = fragments_.find(parsed, now);
        if (whose == nullptr)
            return Reason::fragment;
        ends.source = whose->address;
        return Reason::none;
    }
    Flow flow;
    if (const auto reason = flowOf(parsed, flow); reason != Reason::none)
        return reason;
    const auto remote = remoteOf(flow, ends.destination, flow.ports.destination);
    const auto found = sessions_.from6(flow.kind, parsed.source6, flow.ports.source, remote, flow.flags, now);
    if (!found)
        return found.error();
    ends.source = (*found)->place.address;
    ports = Ports{(*found)->place.port, flow.ports.destination};
    return Reason::none;
}

Reason Stateful::from4(const Parsed& parsed, std::uint32_t now, Ends6& ends, NewPorts& ports) {
    if (const auto reason = embedIn(addresses_, parsed.source4, ends.source); reason != Reason::none)
        return reason;
    if (parsed.offset != 0) {
        const auto* const whose = fragments_.find(parsed, now);
        if (whose == nullptr)
            return Reason::fragment;
        ends.destination = whose->host;
        return Reason::none;
    }
    Flow flow;
    if (const auto reason = flowOf(parsed, flow); reason != Reason::none)
        return reason;
    const auto remote = remoteOf(flow, parsed.source4, flow.ports.source);
    const auto found =
        sessions_.from4(flow.kind, {parsed.destination4, flow.ports.destination}, remote, flow.flags, now);
    if (!found)
        return found.error();
    ends.destination = (*found)->host;
    const auto port = (*found)->port;
    ports = flow.kind == Kind::icmp ? Ports{port, port} : Ports{flow.ports.source, port};
    return Reason::none;
}

Reason Stateful::errorFrom6(const Parsed& error, const Parsed& quoted, Ends4& ends, Ends4& quotedEnds,
                            NewPorts& quotedPorts) {
    if (const auto reason = extractFrom(addresses_, error.destination6, ends.destination);
        reason != Reason::none)
        return reason;
    if (const auto reason = extractFrom(addresses_, quoted.source6, quotedEnds.source);
        reason != Reason::none)
        return reason;
    if (quoted.offset != 0)
        return Reason::fragment;
    Flow flow;
    if (const auto reason = flowOf(quoted, flow); reason != Reason::none)
        return reason;
    // quoted is what its receiver, the host, has got
    const auto* const found = sessions_.quoted6(flow.kind, quoted.destination6, flow.ports.destination,
                                                remoteOf(flow, quotedEnds.source, flow.ports.source));
    if (found == nullptr || quotedEnds.source != ends.destination)
        return Reason::noSession;
    ends.source = quotedEnds.destination = found->place.address;
    const auto port = found->place.port;
    quotedPorts = flow.kind == Kind::icmp ? Ports{port, port} : Ports{flow.ports.source, port};
    return Reason::none;
}

Reason Stateful::errorFrom4(const Parsed& error, const Parsed& quoted, Ends6& ends, Ends6& quotedEnds,
                            NewPorts& quotedPorts) {
    if (const auto reason = embedIn(addresses_, error.source4, ends.source); reason != Reason::none)
        return reason;
    if (const auto reason = embedIn(addresses_, quoted.destination4, quotedEnds.destination);
        reason != Reason::none)
        return reason;
    if (quoted.offset != 0)
        return Reason::fragment;
    Flow flow;
    if (const auto reason = flowOf(quoted, flow); reason != Reason::none)
        return reason;
    const auto* const found = sessions_.quoted4(flow.kind, {quoted.source4, flow.ports.source},
                                                remoteOf(flow, quoted.destination4, flow.ports.destination));
    if (found == nullptr || quoted.source4 != error.destination4)
        return Reason::noSession;
    ends.destination = quotedEnds.source = found->host;
    const auto port = found->port;
    quotedPorts = flow.kind == Kind::icmp ? Ports{port, port} : Ports{port, flow.ports.destination};
    return Reason::none;
}

} // namespace tna::nat64
