// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"

#include <string>
#include <vector>

namespace tna::bench {

/// Runs a program by its arguments; its output becomes the error's cause.
[[nodiscard]] Result<void> runProgram(const std::vector<std::string>& arguments);

/// generator g0 -- d0 [bridge br0] d1 -- s0 sink, each in a network namespace of its own, which are
/// gone when the object is.
class BridgeTopology {
public:
    [[nodiscard]] static Result<BridgeTopology> make(unsigned queues, unsigned stations);
    BridgeTopology(BridgeTopology&&) noexcept = default;
    BridgeTopology& operator=(BridgeTopology&&) = delete;
    ~BridgeTopology();

    [[nodiscard]] const NetNamespace& generator() const { return namespaces_[0]; }
    [[nodiscard]] const NetNamespace& device() const { return namespaces_[1]; }
    [[nodiscard]] const NetNamespace& sink() const { return namespaces_[2]; }

private:
    BridgeTopology() = default;
    [[nodiscard]] Result<void> build(unsigned queues, unsigned stations);
    std::vector<std::string> names_;
    std::vector<NetNamespace> namespaces_;
};

/// Removes namespaces of runs that were killed; says how many.
unsigned removeLeftovers();

} // namespace tna::bench
