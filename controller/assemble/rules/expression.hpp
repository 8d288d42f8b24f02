// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/packet.hpp"
#include "model/rule_set.hpp"

#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace tna::assemble::rules {

/// What an expression does with the packets that are meant.
struct Step {
    Answer answer = Answer::yes; ///< whether the rule goes on
    std::string obstacle;        ///< why packets of one flow may fare differently; empty: they do not
    bool onlyTells = false;      ///< the obstacle is of no weight where the packet is dropped anyway
    std::vector<model::RuleVerdict> verdicts; ///< one of them it is; empty: none
    std::string_view looksAt{};               ///< what a fast path would have to compare for each packet
    bool untracks = false;                    ///< whom it matches has no connection

    [[nodiscard]] static Step flow(Answer answer = Answer::maybe) { return {.answer = answer}; }
    [[nodiscard]] static Step key(std::string_view field, Answer answer = Answer::maybe) {
        return {.answer = answer, .looksAt = field};
    }
    /// That packets of a flow may differ in.
    [[nodiscard]] static Step never(std::string reason) {
        return {.answer = Answer::maybe, .obstacle = std::move(reason)};
    }
};

/// What a load finds, and what it means that it was looked for.
struct Loaded {
    Bits bits;
    Step step; ///< `no` where nothing can be loaded
};

// By files: what is loaded from packets, from connections.
[[nodiscard]] Loaded loadPayload(const model::RuleExpression& expression, const AbstractPacket& packet);
[[nodiscard]] Loaded loadMeta(const model::RuleExpression& expression, const AbstractPacket& packet);
[[nodiscard]] Loaded loadCt(const model::RuleExpression& expression, const AbstractPacket& packet);

/// The matches and targets of iptables, by name and revision.
[[nodiscard]] Step evaluateMatch(const model::RuleExpression& expression, const AbstractPacket& packet);
[[nodiscard]] Step evaluateTarget(const model::RuleExpression& expression);

/// A rule's surroundings: sets and objects of its table.
class Surroundings {
public:
    explicit Surroundings(const model::RuleSet& set);
    [[nodiscard]] const model::NamedSet* set(model::RuleFamily family, const std::string& table,
                                             const std::string& name) const;

private:
    std::map<std::tuple<model::RuleFamily, std::string, std::string>, const model::NamedSet*> sets_;
};

/// One expression of a rule in `family` and `table`.
[[nodiscard]] Step evaluate(const model::RuleExpression& expression, const AbstractPacket& packet,
                            Registers& registers, const Surroundings& surroundings, model::RuleFamily family,
                            const std::string& table);

} // namespace tna::assemble::rules
