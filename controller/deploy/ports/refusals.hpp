// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/results/data_path.hpp"

#include <memory>

namespace tna::deploy {

/// Sees what the drivers of this network namespace refuse, and has the fast path leave such ports to Linux at
/// once. While there is none of this, nothing is seen.
class Refusals : public RefusalLog {
public:
    [[nodiscard]] static Result<std::unique_ptr<RefusalLog>> watch(const PipelineObject& pipeline,
                                                                   unsigned maxPorts);

    [[nodiscard]] std::map<model::IfIndex, Refusal> read() const override;
    void forget(model::IfIndex ifindex) const override;

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    Refusals(Skeleton skeleton, int map) : skeleton_(std::move(skeleton)), map_(map) {}
    Skeleton skeleton_;
    int map_;
};

} // namespace tna::deploy
