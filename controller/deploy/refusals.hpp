// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "deploy/pipeline_object.hpp"
#include "model/link.hpp"

#include <map>
#include <memory>

namespace tna::deploy {

/// Frames that a driver has refused after they had been redirected to its device: they are lost.
struct Refusal {
    std::uint64_t frames = 0;
    int error = 0; ///< what the driver said, as in errno
    unsigned cpu = 0;
};

/// Sees what the drivers of this network namespace refuse, and has the fast path leave such ports to Linux at
/// once. While there is none of this, nothing is seen.
class Refusals {
public:
    [[nodiscard]] static Result<Refusals> watch(const PipelineObject& pipeline, unsigned maxPorts);

    /// Since the port was forgotten last, by its index.
    [[nodiscard]] std::map<model::IfIndex, Refusal> read() const;
    void forget(model::IfIndex ifindex) const;

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    Refusals(Skeleton skeleton, int map) : skeleton_(std::move(skeleton)), map_(map) {}
    Skeleton skeleton_;
    int map_;
};

} // namespace tna::deploy
