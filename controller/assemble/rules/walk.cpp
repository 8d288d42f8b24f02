// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/walk.hpp"

#include <algorithm>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

namespace tna::assemble::rules {

namespace {
// NFT_JUMP_STACK_SIZE: the kernel refuses what is deeper, and circles.
constexpr unsigned deepest = 16;
constexpr std::int32_t kindOfVerdict = 0xff; // NF_VERDICT_MASK; NFT_* are negative

bool drops(const model::RuleVerdict& verdict) {
    return verdict.code >= 0 && (verdict.code & kindOfVerdict) == NF_DROP;
}
} // namespace

Chains::Chains(const model::RuleSet& set) {
    for (const auto& chain : set.chains)
        chains_.emplace(std::tuple{chain.family, chain.table, chain.name}, &chain);
}

const model::RuleChain* Chains::find(const model::RuleChain& from, const std::string& name) const {
    const auto found = chains_.find({from.family, from.table, name});
    return found == chains_.end() ? nullptr : found->second;
}

void Walk::base(const model::RuleChain& chain) {
    (void)walk(chain, 0);
    if (chain.policy != NF_ACCEPT && chain.policy != NF_DROP)
        findings_.push_back({&chain, nullptr, "its policy is not known"});
}

/// Whether a packet may come back from it.
bool Walk::walk(const model::RuleChain& chain, unsigned depth) {
    if (const auto known = comesBack_.find(&chain); known != comesBack_.end())
        return known->second;
    if (depth > deepest || !entered_.insert(&chain).second) {
        findings_.push_back({&chain, nullptr, "its jumps go too deep, or in a circle"});
        return true;
    }
    if (!chain.understood)
        findings_.push_back({&chain, nullptr, "it is not understood: it may be newer than tnad"});
    bool comesBack = false;
    bool reached = true;
    for (const auto& rule : chain.rules) {
        auto outcome = evaluateRule(chain, rule);
        follow(chain, rule, depth, outcome);
        comesBack |= outcome.returns;
        reached = outcome.goesOn;
        if (!reached)
            break;
    }
    comesBack |= reached;
    comesBack_[&chain] = comesBack;
    return comesBack;
}

/// One rule, as far as its own expressions.
Walk::Outcome Walk::evaluateRule(const model::RuleChain& chain, const model::FilterRule& rule) {
    Registers registers;
    Outcome outcome;
    std::string obstacle;
    std::string onlyTold;
    bool toldOfOthers = false;
    bool ends = false;
    for (const auto& expression : rule.expressions) {
        auto step = evaluate(expression, packet_, registers, surroundings_, chain.family, chain.table);
        looksAt_.insert(step.looksAt.begin(), step.looksAt.end());
        // What it has told of may go on from here.
        toldOfOthers |= !onlyTold.empty() && (step.answer != Answer::yes || step.untracks);
        ends = step.answer == Answer::no;
        // A packet that has a connection is none of those whom this rule takes it from, or has had it before.
        outcome.goesOn |= step.answer != Answer::yes || step.untracks;
        if (ends)
            break;
        auto& place = step.onlyTells ? onlyTold : obstacle;
        if (place.empty())
            place = std::move(step.obstacle);
        if (step.connectionMark)
            marking_.push_back({&chain, &rule, *step.connectionMark});
        std::ranges::copy(step.verdicts, std::back_inserter(outcome.verdicts));
        // After `continue` comes what is left of the rule (nft_do_chain).
        ends = !step.verdicts.empty() &&
               std::ranges::none_of(step.verdicts, [](const auto& one) { return one.code == NFT_CONTINUE; });
        if (ends)
            break;
    }
    outcome.goesOn |= !ends;
    const bool dropped = !outcome.verdicts.empty() && std::ranges::all_of(outcome.verdicts, drops);
    if (obstacle.empty() && (!dropped || toldOfOthers))
        obstacle = std::move(onlyTold);
    if (!obstacle.empty())
        findings_.push_back({&chain, &rule, std::move(obstacle)});
    return outcome;
}

/// Where its verdicts lead to.
void Walk::follow(const model::RuleChain& chain, const model::FilterRule& rule, unsigned depth,
                  Outcome& outcome) {
    for (const auto& verdict : outcome.verdicts) {
        if (verdict.code == NFT_JUMP || verdict.code == NFT_GOTO) {
            const auto* target = chains_.find(chain, verdict.chain);
            if (target == nullptr)
                findings_.push_back({&chain, &rule, "the chain that it leads to was not found"});
            const bool comesBack = target == nullptr || walk(*target, depth + 1);
            (verdict.code == NFT_JUMP ? outcome.goesOn : outcome.returns) |= comesBack;
        } else if (verdict.code == NFT_RETURN) {
            outcome.returns = true;
        } else if (verdict.code == NFT_BREAK) {
            outcome.goesOn = true;
        } else if (verdict.code == NFT_CONTINUE) {
            continue;
        } else if (verdict.code < 0 || ((verdict.code & kindOfVerdict) != NF_ACCEPT && !drops(verdict))) {
            outcome.goesOn = true;
            findings_.push_back({&chain, &rule,
                                 (verdict.code & kindOfVerdict) == NF_QUEUE ? "a program decides"
                                                                            : "its verdict is not known"});
        }
    }
}

} // namespace tna::assemble::rules
