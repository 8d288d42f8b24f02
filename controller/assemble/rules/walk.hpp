// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/expression.hpp"

#include <map>
#include <set>

namespace tna::assemble::rules {

/// All chains by their place.
class Chains {
public:
    explicit Chains(const model::RuleSet& set);
    [[nodiscard]] const model::RuleChain* find(const model::RuleChain& from, const std::string& name) const;

private:
    std::map<std::tuple<model::RuleFamily, std::string, std::string>, const model::RuleChain*> chains_;
};

/// A rule that treats packets of a flow differently, or may.
struct Finding {
    const model::RuleChain* chain = nullptr;
    const model::FilterRule* rule = nullptr; ///< nullptr: the chain as a whole
    std::string reason;
};

/// A rule that sets the connection's mark.
struct MarkingRule {
    const model::RuleChain* chain = nullptr;
    const model::FilterRule* rule = nullptr;
    MarkSetting setting;
};

/// Walks from a base chain through all rules that a packet may come to. Each chain is walked once, however
/// often it is jumped to, because what is known of the packet is the same each time.
class Walk {
public:
    Walk(const AbstractPacket& packet, const Chains& chains, const Surroundings& surroundings)
        : packet_(packet), chains_(chains), surroundings_(surroundings) {}

    void base(const model::RuleChain& chain);
    [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
    [[nodiscard]] const std::set<std::string_view>& looksAt() const { return looksAt_; }
    [[nodiscard]] const std::vector<MarkingRule>& marking() const { return marking_; }

private:
    /// What may come of a rule, or of a chain.
    struct Outcome {
        bool goesOn = false;  ///< to the next rule; of a chain: back to where it was called
        bool returns = false; ///< of a rule: from its chain
        std::vector<model::RuleVerdict> verdicts;
    };
    [[nodiscard]] bool walk(const model::RuleChain& chain, unsigned depth);
    [[nodiscard]] Outcome evaluateRule(const model::RuleChain& chain, const model::FilterRule& rule);
    void follow(const model::RuleChain& chain, const model::FilterRule& rule, unsigned depth,
                Outcome& outcome);

    const AbstractPacket& packet_;
    const Chains& chains_;
    const Surroundings& surroundings_;
    std::map<const model::RuleChain*, bool> comesBack_;
    std::set<const model::RuleChain*> entered_;
    std::vector<Finding> findings_;
    std::set<std::string_view> looksAt_;
    std::vector<MarkingRule> marking_;
};

} // namespace tna::assemble::rules
