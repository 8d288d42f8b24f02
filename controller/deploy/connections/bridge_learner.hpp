// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/kernel/kernel_probe.hpp"
#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/results/data_path.hpp"

struct tna_judged_bridge_rules;

namespace tna::deploy {

/// Two programs that are called for all packets that are received and sent
/// (fpm/connection/learn_bridge.bpf.c), which see what rules of bridges let pass in this network namespace,
/// and tell the pipeline. They are attached for as long as this lives.
class BridgeLearner : public BridgeRuleLearner {
public:
    /// It may outlive the pipeline.
    [[nodiscard]] static Result<std::unique_ptr<BridgeRuleLearner>>
    attach(const PipelineObject& pipeline, Casts casts, std::uint64_t net, std::uint64_t brNetfilter);
    ~BridgeLearner() override;

    void judge(const assemble::RuleJudgement& judgement) override;
    [[nodiscard]] bool missed() const override;

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    template <typename Generated>
    [[nodiscard]] static Result<std::unique_ptr<BridgeRuleLearner>>
    attachOf(const PipelineObject& pipeline, std::uint64_t net, std::uint64_t brNetfilter);
    explicit BridgeLearner(Skeleton skeleton) : skeleton_(std::move(skeleton)) {}

    Skeleton skeleton_;
    tna_judged_bridge_rules* rules_ = nullptr; ///< what it shares with the pipelines
    std::optional<assemble::RuleJudgement> judged_;
};

} // namespace tna::deploy
