// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tna::nat64 {

/// Why a packet is not translated. Name, word of the statistics, sentence.
#define TNA_NAT64_REASONS(X)                                                                                 \
    X(notIp, "not-ip", "neither IPv4 nor IPv6")                                                              \
    X(notOurs, "not-ours", "to an address that is not translated")                                           \
    X(malformed, "malformed", "lengths, or the IPv4 header's checksum, are wrong")                           \
    X(address, "address", "from or to an address that is not a host's")                                      \
    X(privateAddress, "private-address", "a private IPv4 address in the well-known prefix")                  \
    X(notMapped, "not-mapped", "from an address that has no counterpart")                                    \
    X(sourceRoute, "source-route", "an IPv4 source route that has not ended")                                \
    X(routingHeader, "routing-header", "an IPv6 routing header that has not ended")                          \
    X(protocol, "protocol", "a protocol that is not translated")                                             \
    X(icmpType, "icmp-type", "an ICMP message that has no counterpart")                                      \
    X(icmpFragment, "icmp-fragment", "ICMP in fragments")                                                    \
    X(icmpChecksum, "icmp-checksum", "an ICMP error whose checksum is wrong")                                \
    X(zeroChecksum, "zero-checksum", "UDP without a checksum")                                               \
    X(fragment, "fragment", "a fragment whose first one has not been seen")                                  \
    X(tooLong, "too-long", "a fragment that must not be split, and is too long for IPv6")                    \
    X(noBinding, "no-binding", "from IPv4, to a port that nobody uses")                                      \
    X(filtered, "filtered", "from IPv4, by an address that has not been sent to")                            \
    X(noSession, "no-session", "of no connection that is known")                                             \
    X(poolExhausted, "pool-exhausted", "all ports of the pool are in use")                                   \
    X(tableFull, "table-full", "as many sessions as there may be")                                           \
    X(noRoom, "no-room", "the frame has no room for the headers of IPv6")                                    \
    X(notSent, "not-sent", "there was no room to send it")

enum class Reason : std::uint8_t {
#define X(name, word, sentence) name,
    TNA_NAT64_REASONS(X)
#undef X
        none
};
inline constexpr std::size_t reasonCount = static_cast<std::size_t>(Reason::none);

inline constexpr std::array<std::string_view, reasonCount> reasonWords{
#define X(name, word, sentence) word,
    TNA_NAT64_REASONS(X)
#undef X
};
inline constexpr std::array<std::string_view, reasonCount> reasonSentences{
#define X(name, word, sentence) sentence,
    TNA_NAT64_REASONS(X)
#undef X
};

} // namespace tna::nat64
