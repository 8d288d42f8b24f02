// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/own_namespace.hpp"

#include <vector>

namespace tna::bench {

/// The most pairs of stations that talk to each other.
constexpr unsigned mostStations = 100'000;

/// generator g0 -- d0 [bridge br0] d1 -- s0 sink, each in a network namespace of its own. Every device
/// has one queue per CPU, and each CPU sends through its own.
class BridgeTopology {
public:
    [[nodiscard]] static Result<BridgeTopology> make(unsigned queues, unsigned stations);

    [[nodiscard]] const NetNamespace& generator() const { return namespaces_[0].handle(); }
    [[nodiscard]] const NetNamespace& device() const { return namespaces_[1].handle(); }
    [[nodiscard]] const NetNamespace& sink() const { return namespaces_[2].handle(); }

private:
    BridgeTopology() = default;
    [[nodiscard]] Result<void> build(unsigned queues, unsigned stations);
    [[nodiscard]] Result<void> spreadQueues(unsigned queues) const;
    std::vector<OwnNamespace> namespaces_;
};

/// The XPS masks of `queues` transmit queues, in the words of sysfs: queue n belongs to CPU n.
[[nodiscard]] std::vector<std::string> xpsMasks(unsigned queues);

} // namespace tna::bench
