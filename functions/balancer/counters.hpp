// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

// What becomes of frames: a name, and what users are told. The order is that in which they are shown.
#define TNA_BALANCER_OUTCOMES(X)                                                                             \
    X(forwarded, "forwarded", "to a backend")                                                                \
    X(replied, "replied", "from a backend to its client")                                                    \
    X(errorForwarded, "errors-forwarded", "ICMP errors to the backend whose packet they are about")          \
    X(errorReplied, "errors-replied", "ICMP errors to the client whose packet they are about")               \
    X(otherKind, "other", "to Linux: no TCP, UDP, or ICMP error about them")                                 \
    X(noService, "no-service", "to Linux: no service's and no backend's")                                    \
    X(ownHost, "own", "to Linux: answers of backends to this host, to health checks for instance")           \
    X(options, "options", "to Linux: IPv4 with options, or IPv6 with more headers")                          \
    X(fragment, "fragments", "to Linux: parts of packets, of which only the first has ports")                \
    X(malformed, "malformed", "to Linux: lengths contradict each other")                                     \
    X(badSource, "bad-source", "to Linux: from an address that no host has")                                 \
    X(notDirect, "not-direct",                                                                               \
      "to Linux: tagged, or not to the port's own MAC address, of a direct service")                         \
    X(noBackend, "no-backend", "dropped: no backend is there")                                               \
    X(clash, "clash", "dropped: the client has the same port with another service, at the same backend")     \
    X(unclear, "unclear", "dropped: which service a backend answers for is not clear")                       \
    X(noNeighbour, "no-neighbour", "dropped: the backend's MAC address is not known")                        \
    X(noHop, "expired", "dropped: it has no hop left to live")                                               \
    X(tooLong, "too-long", "dropped: longer than the MTU of the port of a direct service")

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

struct Counters {
    std::array<std::uint64_t, outcomeWords.size()> outcomes{};
    std::uint64_t moved = 0; ///< sessions, to another backend

    [[nodiscard]] std::uint64_t of(Outcome outcome) const {
        return outcomes.at(static_cast<std::size_t>(outcome));
    }
};

} // namespace tna::balancer
