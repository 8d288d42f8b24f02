// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/flows.hpp"
#include "base/error.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <tna/fastpath.h>
#include <vector>

namespace tna::deploy {

/// A connection of TCP that the fast path keeps an eye on, by the address of its entry.
struct Stream {
    std::uint64_t entry = 0;
    tna_stream known{};
};

/// Learns from what netfilter lets pass, for as long as it lives.
class ConnectionLearner {
public:
    ConnectionLearner() = default;
    virtual ~ConnectionLearner() = default;
    ConnectionLearner(const ConnectionLearner&) = delete;
    ConnectionLearner& operator=(const ConnectionLearner&) = delete;

    /// The BPF programs that netfilter calls for it, by their ids.
    [[nodiscard]] virtual std::set<std::uint32_t> programs() const = 0;
    /// Only what comes and leaves by these, from now on; at first, nothing.
    virtual void learnBetween(const assemble::FlowPlaces& places) = 0;
    /// These are the rules now: what was learnt of others does not hold.
    virtual void judge(const assemble::RuleJudgement& judgement) = 0;
    /// Whether packets have met other functions than those that were judged.
    [[nodiscard]] virtual bool missed() const = 0;
    /// From any thread.
    [[nodiscard]] virtual std::vector<Stream> streams() const = 0;
    [[nodiscard]] virtual std::optional<tna_stream> stream(std::uint64_t entry) const = 0;
    /// Forgets those whose entries are gone. What was learnt of others stays, and where there is no room for
    /// more, nothing more is learnt.
    virtual void sweep() const = 0;
};

/// The same from what rules of bridges let pass.
class BridgeRuleLearner {
public:
    BridgeRuleLearner() = default;
    virtual ~BridgeRuleLearner() = default;
    BridgeRuleLearner(const BridgeRuleLearner&) = delete;
    BridgeRuleLearner& operator=(const BridgeRuleLearner&) = delete;

    /// These are the rules now: what was learnt of others does not hold.
    virtual void judge(const assemble::RuleJudgement& judgement) = 0;
    /// Whether packets have met other functions than those that were judged.
    [[nodiscard]] virtual bool missed() const = 0;
};

/// Begins to learn from what rules let pass, where that is possible.
class RuleLearning {
public:
    RuleLearning() = default;
    virtual ~RuleLearning() = default;
    RuleLearning(const RuleLearning&) = delete;
    RuleLearning& operator=(const RuleLearning&) = delete;

    /// What becomes of connections where there are rules.
    [[nodiscard]] virtual Result<std::unique_ptr<ConnectionLearner>> ofConnections() const = 0;
    /// The same where bridges have rules of their own.
    [[nodiscard]] virtual Result<std::unique_ptr<BridgeRuleLearner>> ofBridges() const = 0;
};

} // namespace tna::deploy
