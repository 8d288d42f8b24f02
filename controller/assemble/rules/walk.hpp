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
/// often it is jumped to, because what is known of the packet is the same each time. What can only lead to
/// the packet being dropped is passed over: of flows that come there, no packet passes.
class Walk {
public:
    Walk(const AbstractPacket& packet, const Chains& chains, const Surroundings& surroundings)
        : packet_(packet), chains_(chains), surroundings_(surroundings) {}

    void base(const model::RuleChain& chain);
    [[nodiscard]] const std::vector<Finding>& findings() const { return findings_; }
    [[nodiscard]] const std::set<std::string_view>& looksAt() const { return looksAt_; }
    [[nodiscard]] const std::vector<MarkingRule>& marking() const { return marking_; }
    [[nodiscard]] bool asksConnectionMark() const { return asksConnectionMark_; }
    /// What may become of the packet in the chains that were walked, each by itself.
    [[nodiscard]] bool mayPass() const { return mayPass_; }
    [[nodiscard]] bool mayBeDropped() const { return mayBeDropped_; } ///< or anything but passed as it is
    /// Whether something else than that may be done with it: it is answered, counted by its sender; marks are
    /// asked for by themselves.
    [[nodiscard]] bool mayBeTreated() const { return mayBeTreated_; }
    /// Whether its checksum may be finished.
    [[nodiscard]] bool mayBeFinished() const { return mayBeFinished_; }
    /// Whether it may get a mark.
    [[nodiscard]] bool mayBeMarked() const { return mayBeMarked_; }
    /// The rules that may exempt it from connection tracking.
    [[nodiscard]] const std::vector<Finding>& exempting() const { return exempting_; }
    /// Whether connection tracking may take it for something else from then on.
    [[nodiscard]] bool mayChangeSides() const { return mayChangeSides_; }
    /// The same, because it may be in another zone.
    [[nodiscard]] bool mayBeRezoned() const { return mayBeRezoned_; }
    /// Whether rules ask for what may be otherwise in packets that are not in the middle of a flow.
    [[nodiscard]] bool asksKind() const { return asksKind_; }
    /// How much was looked at: expressions, and elements of maps.
    [[nodiscard]] std::size_t steps() const { return steps_; }

private:
    /// Where a rule, or a part of one, may lead to.
    struct Leads {
        bool goesOn = false;  ///< to the next rule
        bool returns = false; ///< from its chain
        bool lets = false;    ///< the packet is accepted, or nobody knows what becomes of it
        void add(const Leads& others);
        /// Whether a packet may pass, if it may behind the rule, and behind the chain.
        [[nodiscard]] bool passes(bool behindRule, bool behindChain) const;
    };
    /// What may come of a rule.
    struct Outcome {
        const model::FilterRule* rule = nullptr;
        Leads leads;
        Leads fromObstacle; ///< from the first expression on that is an obstacle
        std::string obstacle;
        std::vector<std::string_view> looksAt;
    };
    /// What may come of a chain.
    struct Ways {
        bool comesBack = false; ///< to where it was called
        bool lets = false;
    };
    /// The header of which something is in a register.
    struct Origin {
        std::uint32_t place = 0; ///< the register
        std::uint32_t length = 0;
        std::size_t looksAtBefore = 0; ///< how much the rule looked at before
    };
    static void settle(const model::RuleExpression& expression, const Step& step,
                       std::optional<Origin>& origin, Outcome& outcome);
    [[nodiscard]] Ways walk(const model::RuleChain& chain, unsigned depth);
    [[nodiscard]] Outcome evaluateRule(const model::RuleChain& chain, const model::FilterRule& rule,
                                       unsigned depth);
    [[nodiscard]] Leads follow(const model::RuleChain& chain, const model::FilterRule& rule,
                               const model::RuleVerdict& verdict, unsigned depth);
    void report(const model::RuleChain& chain, std::vector<Outcome>& outcomes);

    const AbstractPacket& packet_;
    const Chains& chains_;
    const Surroundings& surroundings_;
    std::map<const model::RuleChain*, Ways> ways_;
    std::set<const model::RuleChain*> entered_;
    std::vector<Finding> findings_;
    std::vector<Finding> exempting_;
    std::set<std::string_view> looksAt_;
    std::vector<MarkingRule> marking_;
    bool asksConnectionMark_ = false;
    bool mayPass_ = true;
    bool mayBeDropped_ = false;
    bool mayBeTreated_ = false;
    bool mayBeFinished_ = false;
    bool mayBeMarked_ = false;
    bool mayChangeSides_ = false;
    bool mayBeRezoned_ = false;
    bool asksKind_ = false;
    std::size_t steps_ = 0;
};

} // namespace tna::assemble::rules
