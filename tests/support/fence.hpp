// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "wires/fence.hpp"
#include "wires/one_cpu.hpp"

#include <optional>

namespace tna::test {

using wires::OneCpu;

/// wires::Fence with a cable of its own, for tests: what goes wrong is a failure.
class Fence {
public:
    /// In the calling thread's network namespace.
    Fence();
    void pass() const;

private:
    std::optional<wires::Fence> fence_;
};

} // namespace tna::test
