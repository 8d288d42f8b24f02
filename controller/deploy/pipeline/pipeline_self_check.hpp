// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/results/self_check.hpp"

namespace tna::deploy {

/// What the programs of one pipeline have found.
class PipelineSelfCheck : public SelfCheck {
public:
    /// The pipeline must outlive it.
    explicit PipelineSelfCheck(const PipelineObject& pipeline) : pipeline_(pipeline) {}

    [[nodiscard]] std::optional<Disagreement> disagreement() const override;
    [[nodiscard]] std::vector<std::string> mistrusted() const override;
    void trust() const override;
    [[nodiscard]] Mistrust mistrust() const override;
    void mistrustAs(const Mistrust& other) const override;

private:
    const PipelineObject& pipeline_;
};

} // namespace tna::deploy
