// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/results/data_path.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace tna::deploy {

/// The fast path of a namespace at both hooks: each port has its program at one of them, or at XDP and, for
/// what that leaves to Linux, at tcx. Each hook has a pipeline, caches and counters of its own. The one at
/// tcx is loaded when a plan has the first port for it.
class BothHooks : public DataPath {
public:
    using Path = std::unique_ptr<DataPath>;
    using Load = std::function<Result<Path>()>;
    BothHooks(Path xdp, Load loadTcx) : xdp_(std::move(xdp)), loadTcx_(std::move(loadTcx)) {}

    void setModules(ModulesById modules) override;
    [[nodiscard]] Applied apply(const assemble::Plan& plan, const model::Network& network) override;
    [[nodiscard]] std::map<model::IfIndex, PortCounters> counters() override;
    [[nodiscard]] std::map<model::IfIndex, std::uint64_t> leftToLinux() const override;
    [[nodiscard]] bool anyCut() const override;
    [[nodiscard]] bool attached(model::IfIndex ifindex) const override;

    [[nodiscard]] std::vector<UniqueFd> handOver() override;
    void inherit(std::vector<UniqueFd> links) override;

    [[nodiscard]] bool settled() const override;
    void settleNext() override;

    /// Only at XDP drivers can refuse a frame.
    [[nodiscard]] Result<std::unique_ptr<RefusalLog>> watchRefusals() const override {
        return xdp_->watchRefusals();
    }
    [[nodiscard]] Result<std::unique_ptr<ConnectionLearner>> learnConnections() const override {
        return xdp_->learnConnections();
    }
    [[nodiscard]] Result<std::unique_ptr<BridgeRuleLearner>> learnBridgeRules() const override {
        return xdp_->learnBridgeRules();
    }
    void forgetFlows() const override;
    void spare(const std::vector<model::PacketFilter>& filters) override;

    [[nodiscard]] std::optional<Disagreement> disagreement() const override;
    [[nodiscard]] std::vector<std::string> mistrusted() const override;
    void trust() const override;
    [[nodiscard]] Mistrust mistrust() const override;
    void mistrustAs(const Mistrust& other) const override;

    [[nodiscard]] StationTable* mirror() override { return xdp_->mirror(); }
    void open(bool informed) override { xdp_->open(informed); }

    [[nodiscard]] Result<Verdict> tryFrame(model::IfIndex port,
                                           const std::vector<std::uint8_t>& frame) const override;

private:
    [[nodiscard]] Applied applyAtTcx(const assemble::Plan& plan, const model::Network& network);
    [[nodiscard]] Applied applyBehind(assemble::Plan& plan, const model::Network& network);

    Path xdp_;
    Load loadTcx_;
    Path tcx_;                           ///< null as long as no port needed it
    std::set<model::IfIndex> behind_;    ///< ports that are at both
    std::set<model::IfIndex> failedXdp_; ///< ports that were to be, and are Linux's
    std::vector<UniqueFd> inherited_;    ///< what may be of tcx, as long as that is not loaded
    ModulesById modules_;                ///< for it
};

} // namespace tna::deploy
