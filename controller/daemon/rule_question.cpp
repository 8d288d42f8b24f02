// SPDX-License-Identifier: Apache-2.0
#include "daemon/rule_question.hpp"

#include "assemble/rules/functions.hpp"
#include "assemble/rules/judge.hpp"
#include "assemble/rules/text.hpp"
#include "base/file.hpp"
#include "introspect/hook_functions.hpp"
#include "introspect/rule_reader.hpp"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace tna::daemon {

namespace {
using nlohmann::json;

json viewChain(const assemble::JudgedChain& chain) {
    return {{"family", assemble::textOf(chain.family)},
            {"table", chain.table},
            {"chain", chain.chain},
            {"type", chain.type},
            {"priority", chain.priority},
            {"new_only", chain.forNewOnly}};
}

json viewObstacle(const assemble::RuleObstacle& obstacle) {
    auto protocols = json::array();
    if (obstacle.tcp)
        protocols.emplace_back("tcp");
    if (obstacle.udp)
        protocols.emplace_back("udp");
    return {{"family", assemble::textOf(obstacle.family)},
            {"table", obstacle.table},
            {"chain", obstacle.chain},
            {"handle", obstacle.handle != 0 ? json(obstacle.handle) : json()},
            {"rule", obstacle.rule},
            {"protocols", std::move(protocols)},
            {"reason", obstacle.reason},
            {"hint", obstacle.hint}};
}

json viewHook(const assemble::JudgedHook& hook) {
    auto chains = json::array();
    for (const auto& chain : hook.chains)
        chains.push_back(viewChain(chain));
    auto obstacles = json::array();
    for (const auto& obstacle : hook.obstacles)
        obstacles.push_back(viewObstacle(obstacle));
    return {{"packets", assemble::textOf(hook.packets)},
            {"hook", assemble::hookText(hook.packets, hook.hook)},
            {"steady", {{"tcp", hook.steadyForTcp}, {"udp", hook.steadyForUdp}}},
            {"looks_at", hook.looksAt},
            {"chains", std::move(chains)},
            {"in_the_way", std::move(obstacles)},
            {"more_in_the_way", hook.moreObstacles}};
}

json viewFunctions(const model::RuleSet& set) {
    if (!set.functions)
        return nullptr;
    auto functions = json::array();
    for (const auto& one : *set.functions)
        functions.push_back({{"packets", assemble::textOf(one.family)},
                             {"hook", assemble::hookText(one.family, one.hook)},
                             {"priority", one.priority},
                             {"function", one.function},
                             {"module", one.module}});
    return functions;
}

json viewSteady(const assemble::FlowRules& rules) {
    return {{"tracked", !rules.untracked},
            {"tcp", rules.tcp},
            {"udp", rules.udp},
            {"translated_tcp", rules.translatedTcp()},
            {"tcp_by_mark", rules.tcpByMark()},
            {"exempt_tcp", !rules.untracked && rules.exemptTcp},
            {"exempt_udp", !rules.untracked && rules.exemptUdp}};
}

/// Of rules of the family bridge; null: there are none.
json viewBridge(const Connections& connections) {
    const auto& impossible = connections.impossibleForBridges();
    if (!connections.learningOfBridges() && !impossible)
        return nullptr;
    return {{"active", connections.learningOfBridges()},
            {"impossible", impossible ? json(*impossible) : json()},
            {"tcp", connections.judgement().bridge.tcp},
            {"udp", connections.judgement().bridge.udp}};
}

/// Connections that begin now are counted: Linux adds up each of their packets (nf_ct_acct_add()), and nobody
/// else can.
bool connectionsAreCounted() {
    return readFile("/proc/sys/net/netfilter/nf_conntrack_acct").value_or("0").starts_with("1");
}
constexpr const char* counted = "what each connection carries is counted, so its packets are Linux's "
                                "(net.netfilter.nf_conntrack_acct is 1)";
constexpr const char* notToCount = "if nobody needs these numbers (`conntrack -L` shows them): `sysctl -w "
                                   "net.netfilter.nf_conntrack_acct=0`; connections that begin from then on "
                                   "are fast";

/// What is no rule's alone.
json viewBecause(const assemble::RuleJudgement& judgement) {
    auto because = json::array();
    if (connectionsAreCounted())
        for (const auto& [packets, rules] :
             {std::pair{"ip", &judgement.ipv4}, std::pair{"ip6", &judgement.ipv6}})
            if (!rules->untracked)
                because.push_back({{"packets", packets}, {"reason", counted}, {"hint", notToCount}});
    for (const auto* obstacles : {&judgement.obstacles, &judgement.bridge.obstacles})
        for (const auto& one : *obstacles)
            if (one.table.empty() && one.chain.empty())
                because.push_back(
                    {{"packets", assemble::textOf(one.family)}, {"reason", one.reason}, {"hint", one.hint}});
    return because;
}

json viewFlowtables(const model::RuleSet& set) {
    auto flowtables = json::array();
    for (const auto& one : set.flowtables)
        flowtables.push_back(
            {{"family", assemble::textOf(one.family)}, {"table", one.table}, {"name", one.name}});
    return flowtables;
}
void leaveOwnOut(std::vector<model::HookFunction>& functions, const std::set<std::uint32_t>& own) {
    std::erase_if(functions, [&](const model::HookFunction& one) {
        return one.program != 0 && own.contains(one.program);
    });
}

/// Some frames of the port were Linux's for one of these reasons.
bool saw(const json& port, std::initializer_list<std::string_view> reasons) {
    return std::ranges::any_of(port.at("slow_path"), [&](const json& slow) {
        return std::ranges::find(reasons, slow.at("code").get<std::string>()) != reasons.end();
    });
}

void addFeature(json& port, json reasons) {
    if (!reasons.empty())
        port["features"].push_back(
            {{"feature", "netfilter"}, {"accelerated", false}, {"reasons", std::move(reasons)}});
}
} // namespace

void addConnectionsInTheWay(nlohmann::json& port) {
    if (!saw(port, {"flow-unknown"}) || !connectionsAreCounted())
        return;
    auto reasons = json::array();
    reasons.push_back({{"code", "connections-counted"}, {"text", counted}, {"hint", notToCount}});
    addFeature(port, std::move(reasons));
}

void addHiddenFunctions(nlohmann::json& port) {
    if (!saw(port, {"bridge-netfilter", "ip-netfilter", "br-netfilter"}))
        return;
    auto reasons = json::array();
    reasons.push_back(
        {{"code", "netfilter-function"},
         {"text", "the kernel does not show the addresses of its functions: br_netfilter is not "
                  "told from other functions that netfilter calls"},
         {"hint", "`sysctl kernel.kptr_restrict=1`, then restart tnad"}});
    addFeature(port, std::move(reasons));
}

void addFunctionsInTheWay(nlohmann::json& port, const std::set<std::uint32_t>& own) {
    if (!saw(port, {"ip-netfilter", "br-netfilter"}))
        return;
    auto functions = introspect::readHookFunctions();
    if (!functions)
        return;
    leaveOwnOut(*functions, own);
    auto reasons = json::array();
    for (const auto& [reason, hint] : assemble::rules::functionsInTheWay(*functions))
        reasons.push_back({{"code", "netfilter-function"}, {"text", reason}, {"hint", hint}});
    addFeature(port, std::move(reasons));
}

nlohmann::json viewRules(const model::RuleSet& set) {
    std::size_t rules = 0;
    for (const auto& chain : set.chains)
        rules += chain.rules.size();
    auto hooks = json::array();
    for (const auto& hook : assemble::judgeRules(set))
        hooks.push_back(viewHook(hook));
    return {{"api", 1},
            {"unknown", nullptr},
            {"generation", set.generation},
            {"tables", set.tables.size()},
            {"chains", set.chains.size()},
            {"rules", rules},
            {"sets", set.sets.size()},
            {"objects", set.objects.size()},
            {"flowtables", viewFlowtables(set)},
            {"legacy_tables", set.legacyTables},
            {"ipset", set.ipset},
            {"functions", viewFunctions(set)},
            {"hooks", std::move(hooks)}};
}

nlohmann::json viewLearning(const Connections& connections, unsigned wanted) {
    if (wanted == 0)
        return nullptr;
    const auto& judgement = connections.judgement();
    const auto& impossible = connections.impossible();
    return {{"active", connections.learning()},   {"impossible", impossible ? json(*impossible) : json()},
            {"generation", judgement.generation}, {"because", viewBecause(judgement)},
            {"ip", viewSteady(judgement.ipv4)},   {"ip6", viewSteady(judgement.ipv6)},
            {"bridge", viewBridge(connections)}};
}

nlohmann::json RuleQuestion::answer(const std::set<std::string>& legacyTables,
                                    const std::set<std::uint32_t>& own) {
    const auto asked = Clock::now();
    const std::lock_guard lock{mutex_};
    if (!last_.is_null() && begun_ >= asked)
        return last_;
    begun_ = Clock::now();
    auto set = introspect::readRuleSet();
    // Where the kernel lists no functions, they are looked for in the kernel itself; those of bridges are
    // not, for the bridge module looks at these with each frame.
    if (set && !set->functions)
        if (auto inPlace = inPlace_.read())
            set = std::move(inPlace->set);
    if (set) {
        set->legacyTables = legacyTables;
        if (set->functions)
            leaveOwnOut(*set->functions, own);
        last_ = viewRules(*set);
    } else {
        const auto& error = set.error();
        last_ = {{"api", 1},
                 {"unknown", {{"what", error.what}, {"cause", error.cause}, {"hint", error.hint}}},
                 {"hooks", json::array()}};
    }
    return last_;
}

} // namespace tna::daemon
