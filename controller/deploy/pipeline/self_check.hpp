// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/results/data_path.hpp"

#include <optional>
#include <string>
#include <vector>

namespace tna::deploy {

/// What the self-check of a pipeline has found (fpm/base/self_check.bpf.h): it pauses modules that it does
/// not believe any more.
class SelfCheck {
public:
    /// The pipeline must outlive it.
    explicit SelfCheck(const PipelineObject& pipeline) : pipeline_(pipeline) {}

    /// Why modules are paused.
    [[nodiscard]] std::optional<Disagreement> disagreement() const;
    /// The modules that are.
    [[nodiscard]] std::vector<std::string> mistrusted() const;
    /// All are believed again; or those not that another pipeline's did not believe.
    void trust() const;
    [[nodiscard]] Mistrust mistrust() const;
    void mistrustAs(const Mistrust& other) const;

private:
    const PipelineObject& pipeline_;
};

} // namespace tna::deploy
