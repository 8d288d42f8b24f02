// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/results/rule_learning.hpp"

namespace tna::deploy {

/// Learns for one pipeline that reads the kernel in place.
class PipelineRuleLearning : public RuleLearning {
public:
    /// `refresh`: so old is the entry of a connection in use at most, in jiffies. The pipeline must outlive
    /// it.
    PipelineRuleLearning(const PipelineObject& pipeline, Casts casts, const NamespaceFacts& facts,
                         std::uint64_t refresh)
        : pipeline_(pipeline), casts_(casts), facts_(facts), refresh_(refresh) {}

    [[nodiscard]] Result<std::unique_ptr<ConnectionLearner>> ofConnections() const override;
    [[nodiscard]] Result<std::unique_ptr<BridgeRuleLearner>> ofBridges() const override;

private:
    const PipelineObject& pipeline_;
    Casts casts_;
    NamespaceFacts facts_;
    std::uint64_t refresh_;
};

/// Where the kernel is not read in place, nothing is learnt.
class NoRuleLearning : public RuleLearning {
public:
    [[nodiscard]] Result<std::unique_ptr<ConnectionLearner>> ofConnections() const override;
    [[nodiscard]] Result<std::unique_ptr<BridgeRuleLearner>> ofBridges() const override;
};

} // namespace tna::deploy
