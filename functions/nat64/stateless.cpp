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
    return anyTo6(parsed.source4, ends.source);
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
    if (const auto reason = anyTo6(error.source4, ends.source); reason != Reason::none)
        return reason;
    if (const auto reason = anyTo6(quoted.source4, quotedEnds.source); reason != Reason::none)
        return reason;
    return anyTo6(quoted.destination4, quotedEnds.destination);
}

} // namespace tna::nat64
