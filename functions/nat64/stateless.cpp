// SPDX-License-Identifier: Apache-2.0
#include "mapping.hpp"

#include <algorithm>

namespace tna::nat64 {

Reason embedIn(const Addresses& addresses, Address4 address, Address6& result) {
    if (!isUnicast(address))
        return Reason::address;
    if (!addresses.allowPrivate && addresses.prefix.isWellKnown() && isPrivate(address))
        return Reason::privateAddress;
    result = addresses.prefix.embed(address);
    return Reason::none;
}

Reason extractFrom(const Addresses& addresses, const Address6& address, Address4& result) {
    const auto extracted = addresses.prefix.extract(address);
    if (!extracted)
        return Reason::notOurs;
    if (!isUnicast(*extracted))
        return Reason::address;
    if (!addresses.allowPrivate && addresses.prefix.isWellKnown() && isPrivate(*extracted))
        return Reason::privateAddress;
    result = *extracted;
    return Reason::none;
}

bool Stateless::isInside(Address4 address) const {
    return std::ranges::any_of(inside_, [&](const auto& prefix) { return prefix.contains(address); });
}

bool Stateless::isOurs(Address4 destination) const {
    return maps_.to6(destination) || isInside(destination);
}

bool Stateless::isOurs(const Address6& destination) const {
    return maps_.to4(destination) || addresses_.prefix.extract(destination);
}

/// Who sends to a host's own address, or to what stands for an address of IPv4's side, goes on in IPv4.
bool Stateless::turnsRound(const Address6& destination, Address4 translated) const {
    return !maps_.to4(destination) && maps_.to6(translated);
}

Reason Stateless::anyTo4(const Address6& address, Address4& result) const {
    if (const auto mapped = maps_.to4(address)) {
        result = *mapped;
        return Reason::none;
    }
    return extractFrom(addresses_, address, result);
}

Reason Stateless::anyTo6(Address4 address, Address6& result) const {
    if (const auto mapped = maps_.to6(address)) {
        result = *mapped;
        return Reason::none;
    }
    return embedIn(addresses_, address, result);
}

/// Whom a host has sent to, or who has sent to it. Of a packet that has turned round that is another host,
/// which is known to it by the prefix: else it would get answers from where it has not sent to (RFC 7757, 4).
Reason Stateless::remoteTo6(Address4 address, bool turned, Address6& result) const {
    return turned ? embedIn(addresses_, address, result) : anyTo6(address, result);
}

/// Of a host of IPv6's side.
Reason Stateless::hostTo4(const Address6& host, Address4& result) const {
    const auto reason = anyTo4(host, result);
    if (reason == Reason::notOurs || (reason == Reason::none && !isOurs(result)))
        return Reason::notMapped;
    return reason;
}

Reason Stateless::from6(const Parsed& parsed, std::uint32_t /*now*/, Ends4& ends, NewPorts& /*ports*/) {
    if (const auto reason = anyTo4(parsed.destination6, ends.destination); reason != Reason::none)
        return reason;
    return hostTo4(parsed.source6, ends.source);
}

Reason Stateless::from4(const Parsed& parsed, std::uint32_t /*now*/, Ends6& ends, NewPorts& /*ports*/) {
    if (const auto reason = anyTo6(parsed.destination4, ends.destination); reason != Reason::none)
        return reason;
    return remoteTo6(parsed.source4, parsed.turned, ends.source);
}

Reason Stateless::errorFrom6(const Parsed& error, const Parsed& quoted, Ends4& ends, Ends4& quotedEnds,
                             NewPorts& /*quotedPorts*/) {
    if (const auto reason = anyTo4(error.destination6, ends.destination); reason != Reason::none)
        return reason;
    if (const auto reason = hostTo4(error.source6, ends.source); reason != Reason::none) {
        if (!errorSource_)
            return reason;
        ends.source = *errorSource_;
    }
    if (const auto reason = anyTo4(quoted.source6, quotedEnds.source); reason != Reason::none)
        return reason;
    return hostTo4(quoted.destination6, quotedEnds.destination);
}

Reason Stateless::errorFrom4(const Parsed& error, const Parsed& quoted, Ends6& ends, Ends6& quotedEnds,
                             NewPorts& /*quotedPorts*/) {
    if (const auto reason = anyTo6(error.destination4, ends.destination); reason != Reason::none)
        return reason;
    const bool ofRemote = error.source4 == quoted.destination4; // and not of a router
    if (const auto reason = remoteTo6(error.source4, error.turned && ofRemote, ends.source);
        reason != Reason::none)
        return reason;
    if (const auto reason = anyTo6(quoted.source4, quotedEnds.source); reason != Reason::none)
        return reason;
    return remoteTo6(quoted.destination4, error.turned, quotedEnds.destination);
}

} // namespace tna::nat64
