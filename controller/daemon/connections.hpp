// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/reporter.hpp"
#include "daemon/rule_watch.hpp"
#include "daemon/stream_keeper.hpp"

#include <memory>

namespace tna::daemon {

/// Has connections learnt where packets pass rules, for as long as the rules are steady.
class Connections {
public:
    /// `kernel` must outlive it.
    explicit Connections(Kernel& kernel) : kernel_(kernel) {}

    /// Whether there are rules whose connections could be learnt.
    [[nodiscard]] bool possible(const model::Network& network) const;
    /// The same of flows that pass rules of bridges.
    [[nodiscard]] bool possibleForBridges(const model::Network& network) const;
    /// Begins to learn when a plan has places for it, and ends when the rules have gone: whose windows are
    /// minded for Linux is not forgotten while a port is down. Returns whether it turned out to be
    /// impossible, which takes another plan.
    [[nodiscard]] bool follow(const deploy::DataPath& dataPath, const model::Network& network,
                              const assemble::NamespacePlan& plan);
    /// The rules have changed, or may have.
    void rulesChanged(const model::Network& network);
    /// Passes on what the rules have been found to be; at each interval, also asks anew where it is in doubt.
    void tell(const model::Network& network, bool atInterval);
    /// Another fast path is in place.
    void startOver();

    [[nodiscard]] bool learning() const { return learner_ != nullptr; }
    [[nodiscard]] bool learningOfBridges() const { return bridgeLearner_ != nullptr; }
    /// The BPF programs by which it learns, which do nothing with packets that rules are about.
    [[nodiscard]] std::set<std::uint32_t> programs() const {
        return learner_ ? learner_->programs() : std::set<std::uint32_t>{};
    }
    [[nodiscard]] const assemble::RuleJudgement& judgement() const { return judgement_; }
    /// Why connections cannot be learnt here, if they cannot.
    [[nodiscard]] const std::optional<std::string>& impossible() const { return impossible_; }
    [[nodiscard]] const std::optional<std::string>& impossibleForBridges() const {
        return impossibleForBridges_;
    }

private:
    [[nodiscard]] bool followConnections(const deploy::DataPath& dataPath, const model::Network& network,
                                         const assemble::FlowPlaces& places);
    [[nodiscard]] bool followBridges(const deploy::DataPath& dataPath, const model::Network& network,
                                     bool wanted);
    [[nodiscard]] bool begin(const deploy::DataPath& dataPath, const model::Network& network);
    void end(const model::Network& network);
    void endForBridges(const model::Network& network);
    void watchRules(const model::Network& network);
    [[nodiscard]] bool missed() const;

    Kernel& kernel_;
    std::unique_ptr<deploy::ConnectionLearner> learner_;
    std::unique_ptr<deploy::BridgeRuleLearner> bridgeLearner_;
    std::unique_ptr<RuleWatch> watch_;     ///< goes before both
    std::unique_ptr<StreamKeeper> keeper_; ///< goes first
    std::optional<std::string> impossible_;
    std::optional<std::string> impossibleForBridges_;
    assemble::RuleJudgement judgement_;
    assemble::SpecialDevices devices_; ///< that the rules were judged for
};

} // namespace tna::daemon
