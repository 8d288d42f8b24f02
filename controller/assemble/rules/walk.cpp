// SPDX-License-Identifier: Apache-2.0
#include "assemble/rules/walk.hpp"

#include "assemble/rules/known_mark.hpp"

#include <algorithm>
#include <linux/in.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <ranges>
#include <utility>

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
    const auto ways = walk(chain, 0);
    mayPass_ &= ways.lets || (ways.comesBack && chain.policy != NF_DROP);
    mayBeDropped_ |= ways.comesBack && chain.policy != NF_ACCEPT;
    if (chain.policy != NF_ACCEPT && chain.policy != NF_DROP)
        findings_.push_back({&chain, nullptr, "its policy is not known"});
}

Walk::Ways Walk::walk(const model::RuleChain& chain, unsigned depth) {
    if (const auto known = ways_.find(&chain); known != ways_.end())
        return known->second;
    if (depth > deepest || !entered_.insert(&chain).second) {
        findings_.push_back({&chain, nullptr, "its jumps go too deep, or in a circle"});
        return {.comesBack = true, .lets = true};
    }
    if (!chain.understood)
        findings_.push_back({&chain, nullptr, "it is not understood: it may be newer than tnad"});
    std::vector<Outcome> outcomes;
    Ways ways{.comesBack = true, .lets = false};
    for (const auto& rule : chain.rules) {
        outcomes.push_back(evaluateRule(chain, rule, depth));
        ways.lets |= outcomes.back().leads.lets;
        ways.comesBack = outcomes.back().leads.goesOn;
        if (!ways.comesBack)
            break;
    }
    ways.comesBack |=
        std::ranges::any_of(outcomes, [](const Outcome& outcome) { return outcome.leads.returns; });
    report(chain, outcomes);
    ways_[&chain] = ways;
    return ways;
}

/// Backwards, because what a rule may lead to depends on those behind it.
void Walk::report(const model::RuleChain& chain, std::vector<Outcome>& outcomes) {
    const bool atTheEnd = !chain.base || chain.policy != NF_DROP;
    bool passes = atTheEnd;
    for (auto& outcome : outcomes | std::views::reverse) {
        if (!outcome.fromObstacle.passes(passes, atTheEnd))
            outcome.obstacle.clear();
        passes = outcome.leads.passes(passes, atTheEnd);
        if (passes)
            looksAt_.insert(outcome.looksAt.begin(), outcome.looksAt.end());
    }
    for (auto& outcome : outcomes)
        if (!outcome.obstacle.empty())
            findings_.push_back({&chain, outcome.rule, std::move(outcome.obstacle)});
}

Walk::Outcome Walk::evaluateRule(const model::RuleChain& chain, const model::FilterRule& rule,
                                 unsigned depth) {
    Registers registers;
    Outcome outcome{.rule = &rule, .leads = {}, .fromObstacle = {}, .obstacle = {}, .looksAt = {}};
    bool ends = false;
    std::optional<Origin> origin;
    KnownMark mark;
    const auto lead = [&](const Leads& leads) {
        outcome.leads.add(leads);
        if (!outcome.obstacle.empty())
            outcome.fromObstacle.add(leads);
    };
    for (const auto& expression : rule.expressions) {
        auto step = evaluate(expression, packet_, registers, surroundings_, chain.family, chain.table);
        steps_ += 1 + step.verdicts.size();
        if (const auto saved = mark.savedBy(expression)) {
            step = Step::flow(Answer::yes);
            step.connectionMark = saved;
        }
        settle(expression, step, origin, outcome);
        std::ranges::copy(step.looksAt, std::back_inserter(outcome.looksAt));
        ends = step.answer == Answer::no;
        mayBeTreated_ |= step.lets;
        mayBeDropped_ |= step.lets || step.alters;
        mayBeFinished_ |= step.finishes && !(packet_.protocol == IPPROTO_UDP && asksForDhcp(rule));
        mayBeMarked_ |= step.alters;
        mayChangeSides_ |= step.untracks || step.rezones;
        mayBeRezoned_ |= step.rezones;
        asksKind_ |= step.asksKind;
        if (step.untracks)
            exempting_.push_back({&chain, &rule, {}});
        // A packet that has a connection is none of those whom this rule takes it from, or has had it before.
        const Leads own{.goesOn = step.answer != Answer::yes || step.untracks, .lets = step.lets};
        if (step.fades)
            lead(own);
        if (outcome.obstacle.empty() && !ends)
            outcome.obstacle = std::move(step.obstacle);
        if (!step.fades)
            lead(own);
        if (ends)
            break;
        mark.pass(expression, registers);
        asksConnectionMark_ |= step.asksConnectionMark;
        if (step.connectionMark)
            marking_.push_back({&chain, &rule, *step.connectionMark});
        for (const auto& verdict : step.verdicts)
            lead(follow(chain, rule, verdict, depth));
        // After `continue` comes what is left of the rule (nft_do_chain).
        ends = !step.verdicts.empty() &&
               std::ranges::none_of(step.verdicts, [](const auto& one) { return one.code == NFT_CONTINUE; });
        if (ends)
            break;
    }
    if (!ends)
        lead({.goesOn = true});
    return outcome;
}

/// A rule that looks at one bit of a header does not look at the rest: `tcp flags & (syn | ack) == syn`.
void Walk::settle(const model::RuleExpression& expression, const Step& step, std::optional<Origin>& origin,
                  Outcome& outcome) {
    const bool same = origin && origin->place == expression.source;
    if (expression.kind == "payload" && !expression.writes)
        origin = Origin{expression.destination, expression.length, outcome.looksAt.size()};
    else if (same && step.settles && (expression.kind == "cmp" || expression.length >= origin->length))
        outcome.looksAt.resize(std::exchange(origin, std::nullopt)->looksAtBefore);
    else if (!same || !(expression.kind == "cmp" ||
                        (expression.kind == "bitwise" && expression.source == expression.destination)))
        origin.reset();
}

/// Where a verdict leads to.
Walk::Leads Walk::follow(const model::RuleChain& chain, const model::FilterRule& rule,
                         const model::RuleVerdict& verdict, unsigned depth) {
    if (verdict.code == NFT_JUMP || verdict.code == NFT_GOTO) {
        const auto* target = chains_.find(chain, verdict.chain);
        if (target == nullptr)
            findings_.push_back({&chain, &rule, "the chain that it leads to was not found"});
        const auto ways =
            target == nullptr ? Ways{.comesBack = true, .lets = true} : walk(*target, depth + 1);
        const bool jumps = verdict.code == NFT_JUMP;
        return {.goesOn = ways.comesBack && jumps, .returns = ways.comesBack && !jumps, .lets = ways.lets};
    }
    if (verdict.code == NFT_RETURN)
        return {.returns = true};
    if (verdict.code == NFT_BREAK)
        return {.goesOn = true};
    mayBeDropped_ |= verdict.code != NFT_CONTINUE && verdict.code != NF_ACCEPT;
    if (verdict.code == NFT_CONTINUE || drops(verdict))
        return {};
    const auto kind = verdict.code < 0 ? verdict.code : verdict.code & kindOfVerdict;
    mayBeTreated_ |= kind != NF_ACCEPT;
    if (kind != NF_ACCEPT)
        findings_.push_back(
            {&chain, &rule, kind == NF_QUEUE ? "a program decides" : "its verdict is not known"});
    return {.goesOn = kind != NF_ACCEPT, .lets = true};
}

void Walk::Leads::add(const Leads& others) {
    goesOn |= others.goesOn;
    returns |= others.returns;
    lets |= others.lets;
}

bool Walk::Leads::passes(bool behindRule, bool behindChain) const {
    return lets || (returns && behindChain) || (goesOn && behindRule);
}

} // namespace tna::assemble::rules
