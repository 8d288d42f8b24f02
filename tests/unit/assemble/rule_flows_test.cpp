// SPDX-License-Identifier: Apache-2.0
// For which rules flows may be learnt.
#include "assemble/rules/flows.hpp"
#include "rule_builder.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <limits>
#include <linux/netfilter/xt_tcpudp.h>

namespace tna::test {
namespace {

using assemble::RuleJudgement;

/// As they are in effect, of a generation.
RuleJudgement judged(model::RuleSet set, const std::set<std::uint32_t>& own = {},
                     const assemble::SpecialDevices& devices = {}) {
    set.generation = 7;
    return assemble::judgeForFlows({.set = std::move(set),
                                    .ipv4 = {{{0x1000, 2}, {0x2000, 1}, {0x3000, 2}}},
                                    .ipv6 = {{{0, 0}, {0x4000, 1}, {0, 0}}}},
                                   own, devices);
}

/// With a function at a place, besides rules that are steady.
RuleJudgement judgedWith(const model::HookFunction& function, const std::set<std::uint32_t>& own = {}) {
    auto set = ruleSetOf({{accept()}});
    set.functions->push_back(function);
    return judged(std::move(set), own);
}

constexpr auto first = std::numeric_limits<std::int32_t>::min();
constexpr auto last = std::numeric_limits<std::int32_t>::max();

TEST(FlowRules, OfSteadyRules) {
    const auto judgement = judged(ruleSetOf({{accept()}}));
    EXPECT_EQ(judgement.generation, 7U);
    EXPECT_TRUE(judgement.ipv4.udp);
    EXPECT_TRUE(judgement.ipv4.tcp);
    EXPECT_TRUE(judgement.ipv6.udp);
    EXPECT_EQ(judgement.ipv4.functions.at(2), (assemble::FunctionPlace{0x3000, 2}));
    EXPECT_EQ(judgement.ipv6.functions.at(1), (assemble::FunctionPlace{0x4000, 1}));
    EXPECT_TRUE(judgement.obstacles.empty());
}

TEST(FlowRules, OfRulesThatAreNotSteady) {
    const auto judgement = judged(ruleSetOf({{of("limit"), accept()}}));
    EXPECT_FALSE(judgement.ipv4.udp);
    EXPECT_FALSE(judgement.ipv4.tcp);
    EXPECT_TRUE(judgement.ipv6.udp) << "they are of IPv4";
    EXPECT_FALSE(judgement.obstacles.empty());
}

TEST(FlowRules, OfRulesThatLookAtWhatIsComparedOrNot) {
    EXPECT_TRUE(judged(ruleSetOf({{payload(1, 1, 1), cmp({0x2e}), drop()}})).ipv4.udp) << "type of service";
    const auto lives = judged(ruleSetOf({{payload(1, 8, 1), cmp({1}), drop()}}));
    EXPECT_FALSE(lives.ipv4.udp) << "time to live";
    EXPECT_FALSE(lives.ipv4.tcp);
    ASSERT_EQ(lives.obstacles.size(), 1U);
    EXPECT_NE(lives.obstacles[0].reason.find("TTL"), std::string::npos);
}

/// That a route of IPv6 has gone, nothing in the kernel tells.
TEST(FlowRules, ThatLookAtRoutes) {
    auto set = ruleSetOf({{of("fib", 1, NFT_FIB_RESULT_OIF), cmp({0, 0, 0, 0}), drop()}});
    EXPECT_TRUE(judged(set).ipv4.udp);
    set.chains[0].family = model::RuleFamily::ip6;
    const auto judgement = judged(set);
    EXPECT_TRUE(judgement.ipv4.udp);
    EXPECT_FALSE(judgement.ipv6.udp);
    ASSERT_FALSE(judgement.obstacles.empty());
    EXPECT_NE(judgement.obstacles[0].reason.find("routes"), std::string::npos);
    set = ruleSetOf({{payload(1, 0, 4), cmp({0x60, 0, 0, 1}), drop()}});
    set.chains[0].family = model::RuleFamily::ip6;
    EXPECT_TRUE(judged(set).ipv6.udp) << "traffic class and flow label are compared";
}

TEST(FlowRules, ThatTrackBridgedPackets) {
    auto set = ruleSetOf({{accept()}});
    set.chains.push_back(
        baseOf("bridged", NF_INET_FORWARD, 0, {{ct(NFT_CT_STATE), cmp({1, 0, 0, 0}), drop()}}));
    set.chains.back().family = model::RuleFamily::bridge;
    const auto judgement = judged(set);
    EXPECT_FALSE(judgement.ipv4.tcp);
    EXPECT_FALSE(judgement.ipv6.tcp);
    EXPECT_TRUE(judgement.ipv4.udp);
    EXPECT_FALSE(judgement.obstacles.empty());
}

/// At pre-routing, whatever they would be translated to.
TEST(FlowRules, WhetherInvalidPacketsAreDroppedEarly) {
    const std::vector<model::RuleExpression> dropInvalid{
        ct(NFT_CT_STATE), bitwise({1, 0, 0, 0}, {0, 0, 0, 0}), cmp({0, 0, 0, 0}, NFT_CMP_NEQ), drop()};
    auto set = ruleSetOf({dropInvalid});
    EXPECT_EQ(judged(set).ipv4.invalid, assemble::Invalid::dropped);
    EXPECT_FALSE(judged(set).ipv4.invalidDroppedEarly);
    set.chains.push_back(baseOf("early", NF_INET_PRE_ROUTING, -150, {dropInvalid}));
    EXPECT_TRUE(judged(set).ipv4.invalidDroppedEarly);
    auto some = dropInvalid;
    some.insert(some.begin(), {payload(2, 0, 2), cmp({0, 22})});
    set.chains.back().rules = baseOf("early", NF_INET_PRE_ROUTING, -150, {some}).rules;
    EXPECT_FALSE(judged(set).ipv4.invalidDroppedEarly);
    set.chains.back().rules = baseOf("early", NF_INET_PRE_ROUTING, -300, {dropInvalid}).rules;
    set.chains.back().priority = -300;
    EXPECT_FALSE(judged(set).ipv4.invalidDroppedEarly) << "before connection tracking has said so";
}

/// What rules for packets that are for this host do with those that connection tracking calls invalid.
bool droppedForHost(const std::vector<std::vector<model::RuleExpression>>& rules, const char* loopback = "lo",
                    const std::function<void(model::RuleSet&)>& with = {}) {
    auto set = ruleSetOf({{accept()}});
    set.chains.push_back(baseOf("input", NF_INET_LOCAL_IN, 0, rules));
    if (with)
        with(set);
    const auto found = judged(std::move(set), {}, {.loopback = {.name = loopback, .ifindex = 1, .group = 0}});
    EXPECT_FALSE(found.ipv6.invalidDroppedForHost);
    return found.ipv4.invalidDroppedForHost;
}

TEST(FlowRules, WhetherInvalidPacketsForThisHostAreDropped) {
    const std::vector invalid{ct(NFT_CT_STATE), bitwise({1, 0, 0, 0}, {0, 0, 0, 0}),
                              cmp({0, 0, 0, 0}, NFT_CMP_NEQ)};
    const auto those = [&](const model::RuleExpression& verdict) {
        auto rule = invalid;
        rule.push_back(verdict);
        return rule;
    };
    const auto by = [](std::uint32_t key, std::vector<std::uint8_t> value) {
        return std::vector{meta(key), cmp(std::move(value)), accept()};
    };
    const auto drops = those(drop());
    const std::vector<std::uint8_t> lo{'l', 'o', 0},
        longLo{'l', 'o', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0};
    EXPECT_TRUE(droppedForHost({drops}));
    EXPECT_FALSE(droppedForHost({{accept()}}));
    EXPECT_FALSE(droppedForHost({}));
    EXPECT_FALSE(droppedForHost({{payload(2, 2, 2), cmp({0, 22}), accept()}, drops}));
    EXPECT_FALSE(droppedForHost({those(of("reject")), drops})) << "somebody is told";
    for (const auto& name : {lo, longLo}) {
        EXPECT_TRUE(droppedForHost({by(NFT_META_IIFNAME, name), drops}));
        EXPECT_FALSE(droppedForHost({by(NFT_META_IIFNAME, name), drops}, "loop")) << "another one's name";
        EXPECT_FALSE(droppedForHost({by(NFT_META_OIFNAME, name), drops}));
    }
    EXPECT_TRUE(droppedForHost({by(NFT_META_IIF, {1, 0, 0, 0}), drops}));
    EXPECT_FALSE(droppedForHost({by(NFT_META_IIF, {2, 0, 0, 0}), drops}));
    EXPECT_FALSE(droppedForHost({by(NFT_META_IIFNAME, {'l', 'o'}), drops})) << "all that begin so";
    EXPECT_FALSE(droppedForHost(
        {{meta(NFT_META_IIF), bitwise({1, 0, 0, 0}, {0, 0, 0, 0}), cmp({1, 0, 0, 0}), accept()}, drops}));
    EXPECT_FALSE(
        droppedForHost({{meta(NFT_META_IIF), meta(NFT_META_PRIORITY), cmp({1, 0, 0, 0}), accept()}, drops}));

    const auto besides = [](model::RuleChain chain) {
        return [chain = std::move(chain)](model::RuleSet& set) { set.chains.push_back(chain); };
    };
    const auto input = [&](std::int32_t priority, std::vector<model::RuleExpression> rule) {
        return besides(baseOf("more", NF_INET_LOCAL_IN, priority, {std::move(rule)}));
    };
    EXPECT_FALSE(droppedForHost({drops}, "lo", input(-10, those(of("reject")))));
    for (const unsigned flags : {0U, 2U, 6U}) // of a table that goes with its owner
        EXPECT_EQ(droppedForHost({drops}, "lo", [&](auto& it) { it.tables[0].flags = flags; }), flags != 2);
    EXPECT_FALSE(droppedForHost({drops}, "lo", input(0, those(of("reject")))));
    EXPECT_TRUE(droppedForHost({drops}, "lo", input(1, those(of("reject")))));
    EXPECT_TRUE(droppedForHost({{accept()}}, "lo", input(-10, drops)));
    EXPECT_FALSE(droppedForHost({{accept()}}, "lo", [&](model::RuleSet& set) {
        set.chains.push_back(baseOf("sleeps", NF_INET_LOCAL_IN, 0, {drops}));
        set.chains.back().table = "asleep";
        set.tables.push_back(
            {.family = model::RuleFamily::ip, .name = "asleep", .flags = NFT_TABLE_F_DORMANT});
    }));
    EXPECT_FALSE(droppedForHost({{accept()}}, "lo", [&](model::RuleSet& set) {
        set.chains.push_back(baseOf("new", NF_INET_LOCAL_IN, 0, {drops}));
        set.chains.back().type = "nat";
    })) << "what is invalid does not come there";
    const auto function = [](const char* name, std::int32_t priority) {
        return [=](model::RuleSet& set) {
            set.functions->push_back({.family = model::RuleFamily::ip,
                                      .hook = NF_INET_LOCAL_IN,
                                      .priority = priority,
                                      .function = name});
        };
    };
    EXPECT_FALSE(droppedForHost({drops}, "lo", function("ip_vs_in", -1)));
    EXPECT_TRUE(droppedForHost({drops}, "lo", function("ip_vs_in", 98)));
    EXPECT_TRUE(droppedForHost({drops}, "lo", function("nf_confirm", -1)));
}

/// What becomes of packets of TCP that connection tracking calls invalid, by rules at forward.
assemble::Invalid invalidBy(std::vector<std::vector<model::RuleExpression>> rules,
                            std::uint32_t policy = NF_ACCEPT) {
    auto set = ruleSetOf(std::move(rules));
    set.chains.front().policy = static_cast<std::int32_t>(policy);
    return judged(std::move(set)).ipv4.invalid;
}

TEST(FlowRules, WhatBecomesOfInvalidPackets) {
    using enum assemble::Invalid;
    const auto state = ct(NFT_CT_STATE);
    const auto invalid = bitwise({1, 0, 0, 0}, {0, 0, 0, 0}),
               established = bitwise({2, 0, 0, 0}, {0, 0, 0, 0});
    const auto any = cmp({0, 0, 0, 0}, NFT_CMP_NEQ);
    const std::vector<model::RuleExpression> dropInvalid{state, invalid, any, drop()},
        acceptEstablished{state, established, any, accept()};
    EXPECT_EQ(invalidBy({dropInvalid}), dropped);
    EXPECT_EQ(invalidBy({acceptEstablished}), passed);
    EXPECT_EQ(invalidBy({acceptEstablished}, NF_DROP), dropped);
    EXPECT_EQ(invalidBy({acceptEstablished, {payload(2, 0, 2), cmp({0, 22}), accept()}}, NF_DROP), depends);
    EXPECT_EQ(invalidBy({{payload(2, 0, 2), cmp({0, 22}), drop()}}), depends);
    EXPECT_EQ(invalidBy({{ct(NFT_CT_MARK), cmp({1, 0, 0, 0}), drop()}}), passed) << "it has no connection";
    EXPECT_EQ(invalidBy({{payload(2, 13, 1), cmp({0x10}), drop()}}), depends) << "it may have any flags";
    EXPECT_EQ(invalidBy({{state, invalid, any, of("reject")}}), depends) << "somebody is told";
    EXPECT_EQ(invalidBy({{state, invalid, any, of("log"), drop()}}), dropped);
    EXPECT_EQ(invalidBy({{state, invalid, any, of("limit"), accept()}, {drop()}}), depends);
    EXPECT_EQ(invalidBy({acceptEstablished, {state, invalid, any, of("queue")}}), depends);
    EXPECT_EQ(invalidBy({acceptEstablished, {state, invalid, any, of("dynset"), drop()}}), depends);
    EXPECT_EQ(invalidBy({acceptEstablished,
                         {state, invalid, any, immediate({7, 0, 0, 0}), writing(meta(NFT_META_MARK))}}),
              depends);
    EXPECT_EQ(invalidBy({{payload(2, 13, 1), bitwise({2}, {0}), cmp({0}, NFT_CMP_NEQ), of("unknown")},
                         acceptEstablished}),
              passed)
        << "it has no SYN";
}

/// Who answers them, or marks them, comes first, or last.
TEST(FlowRules, WhatIsDoneWithInvalidPacketsBeforeTheyAreDropped) {
    using enum assemble::Invalid;
    const std::vector invalid{ct(NFT_CT_STATE), bitwise({1, 0, 0, 0}, {0, 0, 0, 0}),
                              cmp({0, 0, 0, 0}, NFT_CMP_NEQ)};
    const auto those = [&](std::vector<model::RuleExpression> more) {
        auto rule = invalid;
        rule.insert(rule.end(), more.begin(), more.end());
        return rule;
    };
    struct Case {
        std::uint32_t hook;
        std::int32_t priority;
        std::vector<model::RuleExpression> rule;
        assemble::Invalid becomes;
    };
    const auto marks = those({immediate({7, 0, 0, 0}), writing(meta(NFT_META_MARK))});
    for (const auto& [hook, priority, rule, becomes] :
         {Case{NF_INET_FORWARD, -10, those({of("reject")}), depends},
          Case{NF_INET_FORWARD, 0, those({of("reject")}), depends},
          Case{NF_INET_FORWARD, 10, those({of("reject")}), dropped},
          Case{NF_INET_FORWARD, -10, {payload(2, 0, 2), cmp({0, 22}), drop()}, dropped},
          Case{NF_INET_FORWARD, -10, those({of("log")}), dropped},
          Case{NF_INET_PRE_ROUTING, -150, marks, depends}, Case{NF_INET_POST_ROUTING, 0, marks, dropped},
          Case{NF_INET_FORWARD, -10, marks, dropped}, Case{NF_INET_LOCAL_IN, -10, marks, dropped},
          Case{NF_INET_PRE_ROUTING, -150, {payload(2, 0, 2), cmp({0, 22}), drop()}, dropped}}) {
        auto set = ruleSetOf({those({drop()})});
        set.chains.push_back(baseOf("input", NF_INET_LOCAL_IN, 0, {those({drop()})}));
        set.chains.push_back(baseOf("more", hook, priority, {rule}));
        const auto ipv4 = judged(std::move(set)).ipv4;
        EXPECT_EQ(ipv4.invalid, becomes) << hook << ' ' << priority;
        EXPECT_EQ(ipv4.invalidDroppedForHost, hook != NF_INET_PRE_ROUTING || becomes == dropped);
    }
}

/// Bridges within which they pass, of br0 and br1, by rules at a place whose policy drops the rest.
std::string passingWithin(const std::vector<std::vector<model::RuleExpression>>& rules,
                          std::uint32_t place = NF_INET_FORWARD) {
    auto set = ruleSetOf(rules);
    set.chains.front().hook = place;
    set.chains.front().policy = NF_DROP;
    const auto judgement = judged(
        std::move(set), {},
        {.others = {{.name = "br0", .ifindex = 4, .group = 0}, {.name = "br1", .ifindex = 5, .group = 9}}});
    EXPECT_EQ(judgement.ipv4.invalid, assemble::Invalid::depends);
    std::string names;
    for (const auto& way : judgement.ipv4.invalidWays) {
        if (way.fate.becomes == assemble::Invalid::passed && (!way.to || way.from == *way.to))
            names += way.from.name + " ";
    }
    EXPECT_TRUE(judgement.ipv6.invalidWays.empty());
    return names;
}

TEST(FlowRules, WhatBecomesOfInvalidPacketsWithinABridge) {
    const auto is = [](std::uint32_t key, std::vector<std::uint8_t> value) {
        return std::vector{meta(key), cmp(std::move(value))};
    };
    const auto both = [](std::vector<model::RuleExpression> one,
                         const std::vector<model::RuleExpression>& other,
                         const model::RuleExpression& verdict) {
        one.insert(one.end(), other.begin(), other.end());
        one.push_back(verdict);
        return one;
    };
    const std::vector<std::uint8_t> br0{'b', 'r', '0', 0}, br{'b', 'r'}, p0{'p', '0', 0};
    const auto from = is(NFT_META_IIFNAME, br0), to = is(NFT_META_OIFNAME, br0);
    EXPECT_EQ(passingWithin({both(from, to, accept())}), "br0 ");
    EXPECT_EQ(passingWithin({both(is(NFT_META_IIFNAME, br), is(NFT_META_OIFNAME, br), accept())}),
              "br0 br1 ");
    EXPECT_EQ(passingWithin({both(from, is(NFT_META_OIFNAME, p0), accept())}), "");
    EXPECT_EQ(passingWithin({both(is(NFT_META_IIF, {5, 0, 0, 0}), is(NFT_META_OIF, {5, 0, 0, 0}), accept())}),
              "br1 ");
    EXPECT_EQ(passingWithin(
                  {both(is(NFT_META_IIFGROUP, {9, 0, 0, 0}), is(NFT_META_OIFGROUP, {9, 0, 0, 0}), accept())}),
              "br1 ");
    EXPECT_EQ(passingWithin({both(from, to, drop()), both(is(NFT_META_IIFNAME, br), {}, accept())}), "br1 ");
    EXPECT_EQ(passingWithin({both(from, {payload(2, 0, 2), cmp({0, 22})}, drop()),
                             both(is(NFT_META_IIFNAME, br), {}, accept())}),
              "br1 ");
    // Where a packet comes in, it is not known yet where it leaves, and where it leaves, not any more where
    // it came.
    EXPECT_EQ(passingWithin({both(from, {}, accept())}, NF_INET_PRE_ROUTING), "br0 ");
    EXPECT_EQ(passingWithin({both(to, {}, accept())}, NF_INET_PRE_ROUTING), "");
    EXPECT_EQ(passingWithin({both(to, {}, accept())}, NF_INET_POST_ROUTING), "br0 ");
    EXPECT_EQ(passingWithin({both(from, {}, accept())}, NF_INET_POST_ROUTING), "");
}

TEST(FlowRules, WhereNotAllPacketsAreTracked) {
    using enum assemble::Invalid;
    auto set = ruleSetOf(
        {{ct(NFT_CT_STATE), bitwise({1, 0, 0, 0}, {0, 0, 0, 0}), cmp({0, 0, 0, 0}, NFT_CMP_NEQ), drop()}});
    EXPECT_EQ(judged(set).ipv4.invalid, dropped);
    auto early = set;
    early.chains.push_back(
        baseOf("raw", NF_INET_PRE_ROUTING, -300, {{meta(NFT_META_IIF), cmp({9, 0, 0, 0}), of("notrack")}}));
    EXPECT_EQ(judged(early).ipv4.invalid, dropped) << "none of a flow that is tracked";
    for (const std::int32_t priority : {-201, -400}) {
        early.chains.back().priority = priority;
        EXPECT_EQ(judged(early).ipv4.invalid, depends);
    }
    early.chains.back().priority = -300;
    auto byFlags = early;
    byFlags.chains.back().rules.front().expressions = {payload(2, 13, 1), bitwise({0x04}, {0}), cmp({0x04}),
                                                       of("notrack")};
    EXPECT_EQ(judged(byFlags).ipv4.invalid, depends) << "resets";
    xt_tcp resets{};
    resets.flg_mask = resets.flg_cmp = 0x04;
    byFlags.chains.back().rules.front().expressions = {match("tcp", 0, bytesOf(resets)), of("notrack")};
    EXPECT_EQ(judged(byFlags).ipv4.invalid, depends);
    early.chains.back().rules.front().expressions.back() = writing(ct(NFT_CT_ZONE));
    EXPECT_EQ(judged(early).ipv4.invalid, depends);
    early.chains.back().rules.front().expressions.back() = drop();
    EXPECT_EQ(judged(early).ipv4.invalid, dropped);
    set.chains.back().hook = NF_INET_PRE_ROUTING;
    set.chains.back().priority = -200;
    EXPECT_EQ(judged(set).ipv4.invalid, depends) << "before or behind connection tracking";
}

TEST(FlowRules, ThatDropOnlySomeInvalidPacketsSaySo) {
    const auto judgement = judged(ruleSetOf({{payload(2, 0, 2), cmp({0, 22}), drop()}}));
    EXPECT_TRUE(judgement.ipv4.tcp);
    ASSERT_FALSE(judgement.obstacles.empty());
    EXPECT_TRUE(judgement.obstacles.front().tcp);
    EXPECT_FALSE(judgement.obstacles.front().udp);
    EXPECT_NE(judgement.obstacles.front().hint.find("invalid drop"), std::string::npos);
}

TEST(FlowRules, WhoeverElseIsCalled) {
    model::HookFunction program{.family = model::RuleFamily::ip,
                                .hook = NF_INET_FORWARD,
                                .priority = 0,
                                .function = "nf_hook_run_bpf",
                                .module = {},
                                .program = 5};
    EXPECT_FALSE(judgedWith(program).ipv4.udp);
    EXPECT_FALSE(judgedWith(program, {6}).ipv4.udp);
    EXPECT_TRUE(judgedWith(program, {5}).ipv4.udp);
    program.program = 0;
    EXPECT_FALSE(judgedWith(program, {0, 5}).ipv4.udp) << "no program is none of ours";
}

TEST(FlowRules, ThatAreCalledBeforeOrBehindThoseThatLearn) {
    model::HookFunction chain{.family = model::RuleFamily::ip,
                              .hook = NF_INET_PRE_ROUTING,
                              .priority = first + 1,
                              .function = "nft_do_chain_ipv4",
                              .module = {},
                              .ofTables = true};
    EXPECT_FALSE(judgedWith(chain).ipv4.udp);
    chain.priority = first + 2;
    EXPECT_TRUE(judgedWith(chain).ipv4.udp);
    chain.hook = NF_INET_POST_ROUTING;
    chain.priority = last - 1;
    EXPECT_FALSE(judgedWith(chain).ipv4.udp);
    chain.priority = last - 2;
    EXPECT_TRUE(judgedWith(chain).ipv4.udp);
    const model::HookFunction confirm{.family = model::RuleFamily::ip,
                                      .hook = NF_INET_POST_ROUTING,
                                      .priority = last,
                                      .function = "nf_confirm",
                                      .module = {}};
    EXPECT_TRUE(judgedWith(confirm).ipv4.udp);
}

TEST(FlowRules, OfWhichNothingIsKnown) {
    auto set = ruleSetOf({{accept()}});
    set.functions.reset();
    EXPECT_FALSE(judged(set).ipv4.udp);
    const auto none = assemble::judgeForFlows({.set = ruleSetOf({{accept()}}), .ipv4 = {}, .ipv6 = {}}, {});
    EXPECT_EQ(none.generation, 0U);
    EXPECT_FALSE(none.ipv4.udp) << "of no generation";
}

} // namespace
} // namespace tna::test
