// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// What becomes of frames: a name, and what users are told. The order is that in which they are shown.
#define TNA_BALANCER_OUTCOMES(X)                                                                             \
    X(forwarded, "forwarded", "to a backend")                                                                \
    X(sent, "sent", "to the MAC address of a backend that answers by itself")                                \
    X(replied, "replied", "from a backend to its client")                                                    \
    X(errorForwarded, "errors-forwarded", "ICMP errors to the backend whose packet they are about")          \
    X(errorReplied, "errors-replied", "ICMP errors to the client whose packet they are about")               \
    X(otherKind, "other", "to Linux as it is: no TCP, UDP, or ICMP error about them")                        \
    X(noService, "no-service", "to Linux as it is: no service's and no backend's")                           \
    X(noSession, "no-session", "to Linux as it is: a backend's or a service's, of no connection known here") \
    X(ownHost, "own", "to Linux as it is: answers of backends to this host, to its checks for instance")     \
    X(options, "options", "to Linux as it is: IPv4 with options, or IPv6 with more headers")                 \
    X(fragment, "fragments", "to Linux as it is: parts of packets, of which only the first has ports")       \
    X(malformed, "malformed", "to Linux as it is: lengths contradict each other")                            \
    X(badSource, "bad-source", "to Linux as it is: from an address that no client has")                      \
    X(noBackend, "no-backend", "dropped: no backend is there")                                               \
    X(clash, "clash", "dropped: the client has the same port with another service, at the same backend")     \
    X(notSent, "not-sent", "dropped: changed, but there was no room on its way, or no such port")

namespace tna::balancer {

enum class Outcome : std::uint8_t {
#define TNA_BALANCER_ENUM(id, name, sentence) id,
    TNA_BALANCER_OUTCOMES(TNA_BALANCER_ENUM)
#undef TNA_BALANCER_ENUM
};
struct OutcomeWords {
    const char* name;
    const char* sentence;
};
inline constexpr std::array outcomeWords{
#define TNA_BALANCER_WORDS(id, name, sentence) OutcomeWords{name, sentence},
    TNA_BALANCER_OUTCOMES(TNA_BALANCER_WORDS)
#undef TNA_BALANCER_WORDS
};

/// All others are Linux's, changed or not.
[[nodiscard]] constexpr bool isDropped(Outcome outcome) {
    return outcome >= Outcome::noBackend;
}

} // namespace tna::balancer
