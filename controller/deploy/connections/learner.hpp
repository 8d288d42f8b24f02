// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/kernel/kernel_probe.hpp"
#include "deploy/pipeline/pipeline_object.hpp"
#include "deploy/results/data_path.hpp"

#include <chrono>
#include <vector>

struct bpf_program;
struct tna_judged_rules;

namespace tna::deploy {

/// Three programs at netfilter's hooks of this network namespace, which see what Linux lets pass and tell the
/// pipeline (fpm/connection/). They are attached for as long as this lives.
class Learner : public ConnectionLearner {
public:
    /// It may outlive the pipeline. `refresh`, in jiffies: so old is a connection's entry at
    /// most.
    [[nodiscard]] static Result<std::unique_ptr<ConnectionLearner>>
    attach(const PipelineObject& pipeline, Casts casts, std::uint64_t net, std::uint64_t refresh);
    ~Learner() override;

    [[nodiscard]] std::set<std::uint32_t> programs() const override { return programs_; }
    void learnBetween(const assemble::FlowPlaces& places) override;
    void judge(const assemble::RuleJudgement& judgement) override;
    [[nodiscard]] bool missed() const override;
    [[nodiscard]] std::vector<Stream> streams() const override;
    [[nodiscard]] std::optional<tna_stream> stream(std::uint64_t entry) const override;
    void sweep() const override;

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    template <typename Generated>
    [[nodiscard]] static Result<std::unique_ptr<ConnectionLearner>>
    attachOf(const PipelineObject& pipeline, std::uint64_t net, std::uint64_t refresh);
    explicit Learner(Skeleton skeleton) : skeleton_(std::move(skeleton)) {}
    [[nodiscard]] Result<void> link(const bpf_program* of, unsigned family, unsigned hook, int priority);

    Skeleton skeleton_;
    tna_judged_rules* rules_ = nullptr; ///< of IPv4, and of IPv6: what it shares with the pipelines
    int streams_ = -1;                  ///< the pipeline's
    int places_ = -1;
    int sweep_ = -1;
    assemble::FlowPlaces known_; ///< that are in there
    std::optional<assemble::RuleJudgement> judged_;
    std::vector<UniqueFd> links_;
    std::set<std::uint32_t> programs_;
};

} // namespace tna::deploy
