// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/network.hpp"

#include <cstdint>
#include <set>

namespace tna::introspect {

/// What one call of process() changed in the model.
struct Changes {
    bool any = false;               ///< something that can change a decision, besides counts
    bool counts = false;            ///< numbers of FDB entries, neighbours or routes
    bool ruleSets = false;          ///< something about rule sets was announced: rules, sets, elements
    bool behind = false;            ///< more was announced, and is left to the next call
    bool resynced = false;          ///< everything was read again, because announcements were lost
    std::set<model::IfIndex> links; ///< links that came, went or are different
};

struct Stats {
    std::uint64_t events = 0;    ///< announcements read
    std::uint64_t resyncs = 0;   ///< times that everything was read again
    std::uint64_t overruns = 0;  ///< times that announcements were lost
    std::uint64_t malformed = 0; ///< messages that could not be decoded, and were left out
};

/// A network that is followed. The Introspector follows that of a network namespace; tests make up one.
class NetworkSource {
public:
    NetworkSource() = default;
    virtual ~NetworkSource() = default;
    NetworkSource(const NetworkSource&) = delete;
    NetworkSource& operator=(const NetworkSource&) = delete;

    [[nodiscard]] virtual const model::Network& network() const = 0;
    /// Takes in all that was announced, or says that it is behind. Never blocks for something that has not
    /// happened yet.
    [[nodiscard]] virtual Result<Changes> process() = 0;
    /// Reads again what Linux does not announce: net.bridge.* and the tables of iptables-legacy. To be called
    /// from time to time; process() then reports what is different.
    [[nodiscard]] virtual Result<void> refreshSysctls() = 0;
    /// A link may be different without having been announced: process() reads it again.
    virtual void suspect(model::IfIndex ifindex) = 0;
    /// Any of them may be: process() reads all but what is counted.
    virtual void suspectAll() = 0;
    [[nodiscard]] virtual Stats stats() const = 0;
};

} // namespace tna::introspect
