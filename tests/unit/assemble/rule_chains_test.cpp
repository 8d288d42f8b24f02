// SPDX-License-Identifier: Apache-2.0
// Rules in their surroundings: chains, sets, hooks, tables of others.
#include "assemble/rules/text.hpp"
#include "rule_builder.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

using model::RuleFamily;

const std::vector<model::RuleExpression> limited{of("limit"), accept()};

model::RuleExpression jump(const char* chain) {
    return verdict({NFT_JUMP, chain});
}
model::RuleExpression jumpTo(const char* chain, int code) {
    return verdict({code, chain});
}

TEST(Chains, RuleInAChainThatIsJumpedToIsNamedOnceByItsChain) {
    auto set = ruleSetOf({{jump("a")}, {jump("a")}});
    set.chains.push_back(chainOf("a", {limited}));
    const auto hook = judgedForward(set);
    ASSERT_EQ(hook.obstacles.size(), 1U);
    EXPECT_EQ(hook.obstacles[0].chain, "a");
    EXPECT_EQ(hook.obstacles[0].rule, "limit accept");
    EXPECT_EQ(hook.obstacles[0].hint,
              "accept established connections before it: `nft insert rule ip t forward ct state "
              "established,related accept`");
}

TEST(Chains, WhatFollowsAJumpIsReachedIfTheChainComesBack) {
    for (const auto& [rules, reached] :
         std::vector<std::pair<std::vector<std::vector<model::RuleExpression>>, bool>>{
             {{{accept()}}, false}, {{{verdict({NFT_RETURN, ""})}}, true}, {{}, true}, {{{drop()}}, false}}) {
        auto set = ruleSetOf({{jump("a")}, limited});
        set.chains.push_back(chainOf("a", rules));
        EXPECT_EQ(!judgedForward(set).steadyForTcp, reached);
    }
}

TEST(Chains, WhatFollowsAGotoIsNotReached) {
    auto set = ruleSetOf({{jumpTo("a", NFT_GOTO)}, limited});
    set.chains.push_back(chainOf("a", {}));
    EXPECT_TRUE(judgedForward(set).steadyForTcp);
}

TEST(Chains, WhatFollowsAJumpToAGotoIsReachedIfThatChainComesBack) {
    auto set = ruleSetOf({{jump("a")}, limited});
    set.chains.push_back(chainOf("a", {{jumpTo("b", NFT_GOTO)}, {accept()}}));
    set.chains.push_back(chainOf("b", {}));
    EXPECT_FALSE(judgedForward(set).steadyForTcp);
    set.chains.back() = chainOf("b", {{accept()}});
    EXPECT_TRUE(judgedForward(set).steadyForTcp);
}

TEST(Chains, ChainThatIsNotThereIsDoubt) {
    EXPECT_FALSE(judgedForward(ruleSetOf({{jump("nowhere")}})).steadyForTcp);
}

TEST(Chains, CircleIsDoubtAndEnds) {
    auto set = ruleSetOf({{jump("a")}});
    set.chains.push_back(chainOf("a", {{jump("b")}}));
    set.chains.push_back(chainOf("b", {{jump("a")}}));
    EXPECT_FALSE(judgedForward(set).steadyForTcp);
}

TEST(Chains, TooDeepIsDoubtAndEnds) {
    auto set = ruleSetOf({{jump("c0")}});
    for (int i = 0; i < 100; ++i)
        set.chains.push_back(
            chainOf(("c" + std::to_string(i)).c_str(), {{jump(("c" + std::to_string(i + 1)).c_str())}}));
    EXPECT_FALSE(judgedForward(set).steadyForTcp);
}

TEST(Chains, ManyPathsThroughTheSameChainsAreWalkedOnce) {
    auto set = ruleSetOf({{jump("c0")}});
    constexpr int depth = 15;
    for (int i = 0; i < depth; ++i) {
        const auto next = "c" + std::to_string(i + 1);
        const std::vector<model::RuleExpression> perhaps{payload(1, 12, 4), cmp({1, 2, 3, 4}),
                                                         jump(next.c_str())};
        set.chains.push_back(chainOf(("c" + std::to_string(i)).c_str(),
                                     std::vector<std::vector<model::RuleExpression>>(50, perhaps)));
    }
    set.chains.push_back(chainOf(("c" + std::to_string(depth)).c_str(), {}));
    EXPECT_TRUE(judgedForward(set).steadyForTcp);
}

TEST(Chains, AcceptEndsOneBaseChainOnly) {
    auto set = ruleSetOf({{accept()}});
    set.chains.push_back(baseOf("later", NF_INET_FORWARD, 10, {limited}));
    const auto hook = judgedForward(set);
    ASSERT_EQ(hook.chains.size(), 2U);
    EXPECT_EQ(hook.chains[0].chain, "forward");
    ASSERT_EQ(hook.obstacles.size(), 1U);
    EXPECT_EQ(hook.obstacles[0].chain, "later");
}

TEST(Chains, OfTypeNatSeeNewPacketsOnly) {
    auto set = ruleSetOf({limited});
    set.chains[0].type = "nat";
    const auto hook = judgedForward(set);
    EXPECT_TRUE(hook.steadyForTcp && hook.steadyForUdp);
    EXPECT_TRUE(hook.chains.at(0).forNewOnly);
}

TEST(Chains, OfDormantTablesAreNotCalled) {
    auto set = ruleSetOf({limited});
    set.tables[0].flags = NFT_TABLE_F_DORMANT;
    EXPECT_TRUE(judgedForward(set).steadyForTcp);
    EXPECT_TRUE(judgedForward(set).chains.empty());
}

TEST(Chains, OfInetAreForBothProtocols) {
    auto set = ruleSetOf({{meta(NFT_META_NFPROTO), cmp({NFPROTO_IPV6}), of("limit"), accept()}});
    set.chains[0].family = RuleFamily::inet;
    EXPECT_TRUE(judgedForward(set).steadyForTcp);
    EXPECT_FALSE(judgedAt(set, RuleFamily::ip6, NF_INET_FORWARD).steadyForTcp);
    EXPECT_TRUE(judgedAt(set, RuleFamily::bridge, NF_INET_FORWARD).chains.empty());
}

TEST(Chains, BeforeConnectionTrackingNothingIsEstablished) {
    const std::vector<model::RuleExpression> established{ct(NFT_CT_STATE), cmp({2, 0, 0, 0}), accept()};
    for (const auto& [priority, steady] :
         std::vector<std::pair<int, bool>>{{-300, false}, {-200, false}, {-199, true}}) {
        auto set = emptyRuleSet();
        set.chains.push_back(baseOf("prerouting", NF_INET_PRE_ROUTING, priority, {established, limited}));
        const auto hook = judgedAt(set, RuleFamily::ip, NF_INET_PRE_ROUTING);
        EXPECT_EQ(hook.steadyForTcp, steady) << priority;
        EXPECT_EQ(steady, hook.obstacles.empty() || !hook.obstacles[0].hint.contains("above -200"));
    }
}

TEST(Chains, HintForIptablesIsACommandOfIptables) {
    auto set = ruleSetOf({limited});
    set.chains[0].name = "FORWARD";
    set.chains[0].table = "filter";
    EXPECT_TRUE(judgedForward(set).obstacles.at(0).hint.contains("iptables -t filter -I FORWARD"));
}

TEST(Chains, NoMoreThanTwentyRulesAreListed) {
    const auto hook = judgedForward(ruleSetOf(std::vector<std::vector<model::RuleExpression>>(50, limited)));
    EXPECT_EQ(hook.obstacles.size(), 20U);
    EXPECT_EQ(hook.moreObstacles, 60U) << "30 for each protocol";
}

model::RuleSet withSet(model::NamedSet set, std::vector<model::RuleExpression> rule) {
    auto rules = ruleSetOf({std::move(rule), limited});
    set.family = RuleFamily::ip;
    set.table = "t";
    set.name = "s";
    rules.sets.push_back(std::move(set));
    return rules;
}
model::NamedSet good() {
    model::NamedSet set;
    set.elements.complete = true;
    return set;
}
/// In the way of what: of the set, or of the rule behind the one that looks into it.
std::string firstReason(const model::RuleSet& set) {
    const auto hook = judgedForward(set);
    return hook.obstacles.empty() ? "" : hook.obstacles[0].reason;
}

TEST(Sets, AreSteadyIfNothingButPeopleChangesThem) {
    const std::vector<model::RuleExpression> rule{payload(1, 12, 4), lookup("s"), accept()};
    const auto reason = [&](auto change) {
        auto set = good();
        change(set);
        return firstReason(withSet(std::move(set), rule));
    };
    EXPECT_EQ(reason([](auto&) {}), "how much has passed decides"); // of the rule behind it
    EXPECT_EQ(reason([](auto& set) { set.flags = NFT_SET_TIMEOUT; }),
              "elements of s come and go by the clock");
    EXPECT_EQ(reason([](auto& set) { set.flags = NFT_SET_EVAL; }), "packets change s");
    EXPECT_EQ(reason([](auto& set) { set.expressions = {"counter"}; }), "how much has passed decides");
    EXPECT_EQ(reason([](auto& set) { set.expressions = {"limit"}; }),
              "elements of s have limits of their own");
    EXPECT_EQ(reason([](auto& set) { set.elements.expressions = true; }),
              "elements of s have limits of their own");
    EXPECT_EQ(reason([](auto& set) { set.elements.complete = false; }),
              "not all elements of s could be read");
    EXPECT_EQ(reason([](auto& set) { set.understood = false; }),
              "the set that it looks into is not understood");
    EXPECT_EQ(firstReason(ruleSetOf({rule})), "the set that it looks into is not understood")
        << "it is not there";
}

/// What passes because it is not in such a set goes on passing; what passes because it is may not.
TEST(Sets, WhereElementsOnlyVanishMayDropWhatIsInThem) {
    const auto rule = [](std::vector<model::RuleExpression> behind) {
        std::vector<model::RuleExpression> all{payload(1, 12, 4), lookup("s")};
        all.insert(all.end(), behind.begin(), behind.end());
        return all;
    };
    const auto steady = [&](const std::vector<model::RuleExpression>& expressions, auto change) {
        auto set = good();
        set.flags = NFT_SET_TIMEOUT;
        change(set);
        auto rules = withSet(std::move(set), expressions);
        rules.chains[0].rules.pop_back();
        rules.chains.push_back(chainOf("drops", {{of("log")}, {drop()}}));
        rules.chains.push_back(chainOf("some", {{ct(NFT_CT_MARK), cmp({1, 0, 0, 0}), drop()}}));
        const auto hook = judgedForward(rules);
        EXPECT_EQ(hook.steadyForTcp, hook.steadyForUdp);
        return hook.steadyForTcp;
    };
    const auto asItIs = [](auto&) {};
    EXPECT_TRUE(steady(rule({drop()}), asItIs));
    EXPECT_TRUE(steady(rule({of("counter"), of("log"), drop()}), asItIs));
    EXPECT_TRUE(steady(rule({verdict({NFT_JUMP, "drops"})}), asItIs));
    EXPECT_FALSE(steady(rule({accept()}), asItIs));
    EXPECT_FALSE(steady(rule({}), asItIs));
    EXPECT_FALSE(steady(rule({verdict({NFT_RETURN, ""})}), asItIs));
    EXPECT_FALSE(steady(rule({verdict({NFT_JUMP, "some"})}), asItIs)) << "some of them pass";
    EXPECT_FALSE(steady(rule({of("limit"), drop()}), asItIs));
    EXPECT_FALSE(steady({of("limit"), payload(1, 12, 4), lookup("s"), drop()}, asItIs));
    auto others = rule({drop()});
    others[1].operation = NFT_LOOKUP_F_INV;
    EXPECT_FALSE(steady(others, asItIs)) << "what is in the set passes, until it is not";
    auto verdicts = rule({});
    verdicts[1].writes = true;
    EXPECT_FALSE(steady(verdicts, asItIs));
    for (const auto flag : {NFT_SET_INTERVAL, NFT_SET_EVAL, NFT_SET_MAP})
        EXPECT_FALSE(steady(rule({drop()}), [&](auto& set) { set.flags |= flag; })) << flag;
    EXPECT_FALSE(steady(rule({drop()}), [](auto& set) { set.expressions = {"limit"}; }));
    EXPECT_FALSE(steady(rule({drop()}), [](auto& set) { set.elements.expressions = true; }));
    EXPECT_FALSE(steady(rule({drop()}), [](auto& set) { set.elements.complete = false; }));
    EXPECT_FALSE(steady(rule({drop()}), [](auto& set) { set.understood = false; }));
}

TEST(Sets, ThatPacketsFillAreInTheWayEvenWhereTheyOnlyDrop) {
    auto set = good();
    set.flags = NFT_SET_TIMEOUT;
    auto rules = withSet(set, {payload(1, 12, 4), lookup("s"), drop()});
    rules.chains[0].rules.pop_back();
    EXPECT_TRUE(judgedForward(rules).steadyForTcp);
    auto fill = of("dynset");
    fill.name = "s";
    rules.chains.push_back(chainOf("not_come_to", {{fill}}));
    EXPECT_EQ(firstReason(rules), "elements of s come and go by the clock");
}

TEST(Sets, MapOfStatesToVerdictsDecides) {
    auto set = good();
    set.flags = NFT_SET_MAP | NFT_SET_ANONYMOUS;
    set.dataType = NFT_DATA_VERDICT;
    const std::vector<model::RuleExpression> rule{ct(NFT_CT_STATE), lookup("s", true)};
    const auto steady = [&](std::vector<model::SetElement> elements) {
        set.elements.list = std::move(elements);
        return judgedForward(withSet(set, rule)).steadyForTcp;
    };
    const model::RuleVerdict accepted{NF_ACCEPT, ""}, jumped{NFT_JUMP, "nowhere"};
    EXPECT_TRUE(steady({{{2, 0, 0, 0}, accepted}, {{4, 0, 0, 0}, accepted}}));
    EXPECT_FALSE(steady({{{4, 0, 0, 0}, accepted}}));
    EXPECT_TRUE(steady({{{4, 0, 0, 0}, jumped}, {{}, accepted}})) << "the one for all others";
    EXPECT_TRUE(steady({{{4, 0, 0, 0}, jumped}, {{2, 0, 0, 0}, accepted}}));
}

TEST(Sets, EachVerdictOfAMapMayBeTheOne) {
    auto set = good();
    set.flags = NFT_SET_MAP;
    set.dataType = NFT_DATA_VERDICT;
    set.elements.list = {{{10, 0, 0, 1}, model::RuleVerdict{NFT_GOTO, "a"}}};
    auto rules = withSet(set, {payload(1, 16, 4), lookup("s", true), accept()});
    rules.chains[0].rules.pop_back();
    rules.chains.push_back(chainOf("a", {{of("quota"), accept()}}));
    const auto hook = judgedForward(rules);
    ASSERT_EQ(hook.obstacles.size(), 1U);
    EXPECT_EQ(hook.obstacles[0].chain, "a");
}

TEST(Others, TablesOfIptablesLegacyAreInTheWayOfTheirFamily) {
    auto set = emptyRuleSet();
    set.legacyTables = {"ip filter", "ip6 nat"};
    EXPECT_FALSE(judgedForward(set).steadyForTcp);
    EXPECT_EQ(judgedForward(set).obstacles.at(0).table, "filter");
    EXPECT_FALSE(judgedAt(set, RuleFamily::ip6, NF_INET_FORWARD).steadyForUdp);
    EXPECT_TRUE(judgedAt(set, RuleFamily::bridge, NF_INET_FORWARD).steadyForUdp);
}

TEST(Text, OfRulesIsLikeThatOfNft) {
    const auto textOf = [](std::vector<model::RuleExpression> expressions) {
        const auto chain = chainOf("c", {std::move(expressions)});
        return assemble::textOf(chain.rules[0], chain);
    };
    EXPECT_EQ(textOf({payload(1, 12, 4), cmp({10, 0, 0, 1}), payload(2, 2, 2), cmp({0, 80}), of("counter"),
                      accept()}),
              "ip saddr 10.0.0.1 th dport 80 counter accept");
    EXPECT_EQ(textOf({ct(NFT_CT_STATE), bitwise({6, 0, 0, 0}, {0, 0, 0, 0}), cmp({0, 0, 0, 0}, NFT_CMP_NEQ),
                      accept()}),
              "ct state established,related accept");
    EXPECT_EQ(textOf({meta(NFT_META_IIFNAME), cmp({'e', 't', 'h'}), jump("lan")}),
              "iifname \"eth*\" jump lan");
    EXPECT_EQ(textOf({payload(1, 12, 4), lookup("bad"), drop()}), "ip saddr @bad drop");
    EXPECT_EQ(textOf({match("limit", 0), target("LOG", 0)}), "xt match limit xt target LOG");
}

} // namespace
} // namespace tna::test
