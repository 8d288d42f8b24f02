// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/results/data_path.hpp"

#include <functional>
#include <memory>
#include <set>
#include <vector>

namespace tna::deploy {

/// What the self-checks at both hooks have found, as one.
class SelfCheckAtBoth : public SelfCheck {
public:
    /// Who is passed must outlive it.
    explicit SelfCheckAtBoth(const SelfCheck& xdp) : xdp_(xdp) {}
    /// There is one at tcx from now on: it mistrusts what the other one does.
    void add(const SelfCheck& tcx);

    [[nodiscard]] std::optional<Disagreement> disagreement() const override;
    [[nodiscard]] std::vector<std::string> mistrusted() const override;
    void trust() const override;
    [[nodiscard]] Mistrust mistrust() const override;
    void mistrustAs(const Mistrust& other) const override;

private:
    const SelfCheck& xdp_;
    const SelfCheck* tcx_ = nullptr;
};

/// What is attached at both hooks, as one.
class AttachedAtBoth : public AttachedPrograms {
public:
    /// Who is passed must outlive it.
    explicit AttachedAtBoth(AttachedPrograms& xdp) : xdp_(xdp) {}
    /// There is one at tcx from now on: it gets what was inherited there.
    void add(AttachedPrograms& tcx);
    /// What was inherited at tcx, and waits for one that takes it, is detached.
    void dropWaiting() { waiting_.clear(); }

    [[nodiscard]] std::vector<UniqueFd> handOver() override;
    void inherit(std::vector<UniqueFd> links) override;
    [[nodiscard]] bool settled() const override;
    void settleNext() override;

private:
    AttachedPrograms& xdp_;
    AttachedPrograms* tcx_ = nullptr;
    std::vector<UniqueFd> waiting_; ///< what may be of tcx, as long as that is not loaded
};

/// The fast path of a namespace at both hooks: each port has its program at one of them, or at XDP and, for
/// what that leaves to Linux, at tcx. Each hook has a pipeline, caches and counters of its own. The one at
/// tcx is loaded when a plan has the first port for it.
class BothHooks : public DataPath {
public:
    using Path = std::unique_ptr<DataPath>;
    using Load = std::function<Result<Path>()>;
    BothHooks(Path xdp, Load loadTcx)
        : xdp_(std::move(xdp)), loadTcx_(std::move(loadTcx)), selfCheck_(xdp_->selfCheck()),
          attachedPrograms_(xdp_->attachedPrograms()) {}

    void setModules(ModulesById modules) override;
    [[nodiscard]] Applied apply(const assemble::Plan& plan, const model::Network& network) override;
    [[nodiscard]] std::map<model::IfIndex, PortCounters> counters() override;
    [[nodiscard]] std::map<model::IfIndex, std::uint64_t> leftToLinux() const override;
    [[nodiscard]] bool anyCut() const override;
    [[nodiscard]] bool attached(model::IfIndex ifindex) const override;
    [[nodiscard]] AttachedPrograms& attachedPrograms() override { return attachedPrograms_; }

    /// Only at XDP drivers can refuse a frame.
    [[nodiscard]] Result<std::unique_ptr<RefusalLog>> watchRefusals() const override {
        return xdp_->watchRefusals();
    }
    /// What is learnt at XDP is known to both.
    [[nodiscard]] const RuleLearning& ruleLearning() const override { return xdp_->ruleLearning(); }
    [[nodiscard]] const SelfCheck& selfCheck() const override { return selfCheck_; }
    [[nodiscard]] FdbControl& fdb() override { return xdp_->fdb(); }
    void forgetFlows() const override;
    void spare(const std::vector<model::PacketFilter>& filters) override;

    [[nodiscard]] Result<Verdict> tryFrame(model::IfIndex port,
                                           const std::vector<std::uint8_t>& frame) const override;

private:
    [[nodiscard]] Applied applyAtTcx(const assemble::Plan& plan, const model::Network& network);
    [[nodiscard]] Applied applyBehind(assemble::Plan& plan, const model::Network& network);

    Path xdp_;
    Load loadTcx_;
    Path tcx_; ///< null as long as no port needed it
    SelfCheckAtBoth selfCheck_;
    AttachedAtBoth attachedPrograms_;
    std::set<model::IfIndex> behind_;    ///< ports that are at both
    std::set<model::IfIndex> failedXdp_; ///< ports that were to be, and are Linux's
    ModulesById modules_;                ///< for the one at tcx
};

} // namespace tna::deploy
