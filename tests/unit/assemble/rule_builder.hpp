// SPDX-License-Identifier: Apache-2.0
// Rule sets by hand.
#pragma once

#include "assemble/rules/judge.hpp"

#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>

namespace tna::test {

using Value = std::vector<std::uint8_t>;

/// What a match or a target of iptables is told.
template <typename Info>
Value bytesOf(const Info& info) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(&info);
    return {begin, begin + sizeof info};
}

inline model::RuleExpression of(const char* kind, std::uint32_t destination = 0, std::uint32_t key = 0) {
    model::RuleExpression expression;
    expression.kind = kind;
    expression.destination = destination;
    expression.key = key;
    return expression;
}
inline model::RuleExpression payload(std::uint32_t base, std::uint32_t offset, std::uint32_t length) {
    auto expression = of("payload", NFT_REG_1, base);
    expression.offset = offset;
    expression.length = length;
    return expression;
}
inline model::RuleExpression meta(std::uint32_t key) {
    return of("meta", NFT_REG_1, key);
}
inline model::RuleExpression ct(std::uint32_t key) {
    return of("ct", NFT_REG_1, key);
}
/// What would be loaded is set.
inline model::RuleExpression writing(model::RuleExpression expression) {
    expression.writes = true;
    expression.source = NFT_REG_1;
    return expression;
}
inline model::RuleExpression cmp(Value value, std::uint32_t operation = NFT_CMP_EQ) {
    auto expression = of("cmp");
    expression.source = NFT_REG_1;
    expression.operation = operation;
    expression.data = std::move(value);
    return expression;
}
inline model::RuleExpression range(Value low, Value high) {
    auto expression = cmp(std::move(low), NFT_RANGE_EQ);
    expression.kind = "range";
    expression.second = std::move(high);
    return expression;
}
inline model::RuleExpression bitwise(Value mask, Value flip) {
    auto expression = of("bitwise", NFT_REG_1);
    expression.source = NFT_REG_1;
    expression.length = static_cast<std::uint32_t>(mask.size());
    expression.data = std::move(mask);
    expression.second = std::move(flip);
    return expression;
}
inline model::RuleExpression immediate(Value value) {
    auto expression = of("immediate", NFT_REG_1);
    expression.data = std::move(value);
    return expression;
}
inline model::RuleExpression verdict(model::RuleVerdict verdict) {
    auto expression = of("immediate", NFT_REG_VERDICT);
    expression.verdict = std::move(verdict);
    return expression;
}
inline model::RuleExpression accept() {
    return verdict({NF_ACCEPT, ""});
}
inline model::RuleExpression drop() {
    return verdict({NF_DROP, ""});
}
inline model::RuleExpression object(std::uint32_t type) {
    auto expression = of("objref");
    expression.name = "o";
    expression.operation = type;
    return expression;
}
inline model::RuleExpression lookup(const char* set, bool verdicts = false) {
    auto expression = of("lookup");
    expression.source = NFT_REG_1;
    expression.name = set;
    expression.writes = verdicts;
    return expression;
}
inline model::RuleExpression match(const char* name, std::uint32_t revision, Value told = {}) {
    auto expression = of("match", 0, revision);
    expression.name = name;
    expression.data = std::move(told);
    return expression;
}
inline model::RuleExpression target(const char* name, std::uint32_t revision, Value told = {}) {
    auto expression = match(name, revision, std::move(told));
    expression.kind = "target";
    return expression;
}
inline model::RuleExpression notUnderstood(model::RuleExpression expression) {
    expression.understood = false;
    return expression;
}

/// A chain of the table "ip t", with rules numbered from 1.
inline model::RuleChain chainOf(const char* name, std::vector<std::vector<model::RuleExpression>> rules) {
    model::RuleChain chain;
    chain.family = model::RuleFamily::ip;
    chain.table = "t";
    chain.name = name;
    std::uint64_t handle = 0;
    for (auto& expressions : rules)
        chain.rules.push_back({++handle, std::move(expressions), ""});
    return chain;
}
inline model::RuleChain baseOf(const char* name, std::uint32_t hook, std::int32_t priority,
                               std::vector<std::vector<model::RuleExpression>> rules) {
    auto chain = chainOf(name, std::move(rules));
    chain.base = true;
    chain.hook = hook;
    chain.priority = priority;
    chain.type = "filter";
    return chain;
}
/// Nothing else is called by netfilter than connection tracking.
inline model::RuleSet emptyRuleSet() {
    model::RuleSet set;
    set.functions.emplace();
    for (const auto& [family, name] : {std::pair{model::RuleFamily::ip, "ipv4_conntrack_in"},
                                       std::pair{model::RuleFamily::ip6, "ipv6_conntrack_in"}})
        set.functions->push_back({.family = family,
                                  .hook = NF_INET_PRE_ROUTING,
                                  .priority = -200,
                                  .function = name,
                                  .module = {},
                                  .ofTables = false,
                                  .program = 0});
    return set;
}
/// With one base chain at forward.
inline model::RuleSet ruleSetOf(std::vector<std::vector<model::RuleExpression>> rules) {
    auto set = emptyRuleSet();
    set.tables.push_back({model::RuleFamily::ip, "t", 0});
    set.chains.push_back(baseOf("forward", NF_INET_FORWARD, 0, std::move(rules)));
    return set;
}

inline assemble::JudgedHook judgedAt(const model::RuleSet& set, model::RuleFamily packets,
                                     std::uint32_t hook) {
    for (auto& one : assemble::judgeRules(set))
        if (one.packets == packets && one.hook == hook)
            return one;
    return {};
}
inline assemble::JudgedHook judgedForward(const model::RuleSet& set) {
    return judgedAt(set, model::RuleFamily::ip, NF_INET_FORWARD);
}

} // namespace tna::test
