// SPDX-License-Identifier: Apache-2.0
// For which rules of bridges (family bridge) flows may be learnt.
#include "assemble/rules/flows.hpp"
#include "rule_builder.hpp"

#include <functional>
#include <gtest/gtest.h>

namespace tna::test {
namespace {

using assemble::BridgeRules;
using Expressions = std::vector<model::RuleExpression>;

BridgeRules judgedOf(model::RuleSet set) {
    set.generation = 7;
    return assemble::judgeForFlows({.set = std::move(set),
                                    .ipv4 = {},
                                    .ipv6 = {},
                                    .bridge = {{{0x1000, 2}, {0x2000, 1}, {0, 0}}}},
                                   {})
        .bridge;
}

/// With one base chain of the family bridge.
model::RuleSet bridgeSetOf(Expressions rule, std::uint32_t hook = NF_INET_FORWARD) {
    auto set = emptyRuleSet();
    set.tables.push_back({model::RuleFamily::bridge, "t", 0});
    auto chain = baseOf("c", hook, 0, {std::move(rule)});
    chain.family = model::RuleFamily::bridge;
    set.chains.push_back(std::move(chain));
    return set;
}

struct Row {
    const char* name;
    Expressions rule;
    bool steady;
    const char* because = "";
};
void PrintTo(const Row& row, std::ostream* out) {
    *out << row.name;
}

class OneRuleOfBridges : public ::testing::TestWithParam<Row> {};
TEST_P(OneRuleOfBridges, IsSteadyOrInTheWay) {
    const auto& row = GetParam();
    const auto judged = judgedOf(bridgeSetOf(row.rule));
    EXPECT_EQ(judged.tcp, row.steady);
    EXPECT_EQ(judged.udp, row.steady);
    EXPECT_EQ(judged.obstacles.empty(), row.steady);
    for (const auto& obstacle : judged.obstacles)
        EXPECT_EQ(obstacle.family, model::RuleFamily::bridge);
    if (!row.steady) {
        ASSERT_FALSE(judged.obstacles.empty());
        EXPECT_NE(judged.obstacles[0].reason.find(row.because), std::string::npos)
            << judged.obstacles[0].reason;
    }
}

const Value someMac{2, 0, 0, 0, 0, 1};
const Value name{'p', '0', 0};
INSTANTIATE_TEST_SUITE_P(
    Expressions, OneRuleOfBridges,
    ::testing::Values(
        Row{"Source", {payload(0, 6, 6), cmp(someMac), drop()}, true},
        Row{"Destination", {payload(0, 0, 6), cmp(someMac), drop()}, true},
        Row{"TypeOfFrame", {payload(0, 12, 2), cmp({0x08, 0x06}), drop()}, true},
        Row{"Address",
            {payload(0, 12, 2), cmp({0x08, 0}), payload(1, 12, 4), cmp({10, 0, 0, 2}), drop()},
            true},
        Row{"Port", {meta(NFT_META_L4PROTO), cmp({17}), payload(2, 2, 2), cmp({0, 53}), drop()}, true},
        Row{"Device", {meta(NFT_META_IIFNAME), cmp(name), drop()}, true},
        Row{"BridgesName", {meta(NFT_META_BRI_OIFNAME), cmp(name), drop()}, true},
        Row{"VlanOfThePort", {meta(NFT_META_BRI_IIFPVID), cmp({1, 0}), of("limit"), accept()}, true},
        Row{"Tag", {payload(0, 12, 2), cmp({0x81, 0}), of("limit"), accept()}, true},
        Row{"TypeOfService", {payload(1, 1, 1), cmp({0x20}), drop()}, true},
        Row{"Counter", {of("counter"), accept()}, true},
        Row{"Reject", {payload(0, 6, 6), cmp(someMac), of("reject")}, true},
        Row{"EbtablesIp", {match("ip", 0), drop()}, true},
        Row{"EbtablesIp6", {match("ip6", 0), drop()}, true},
        Row{"Length", {meta(NFT_META_LEN), cmp({0, 0, 0, 9}), drop()}, false, "length"},
        Row{"TimeToLive", {payload(1, 8, 1), cmp({1}), drop()}, false, "TTL"},
        Row{"PacketType", {meta(NFT_META_PKTTYPE), cmp({3}), drop()}, false, "packet type"},
        Row{"KindOfDevice", {meta(NFT_META_IIFKIND), cmp(name), drop()}, false, "kind"},
        Row{"TypeOfDevice", {meta(NFT_META_OIFTYPE), cmp({1, 0}), drop()}, false, "kind"},
        Row{"Priority", {meta(NFT_META_PRIORITY), cmp({0, 0, 0, 1}), drop()}, false, "priority"},
        Row{"Mark", {meta(NFT_META_MARK), cmp({7, 0, 0, 0}), drop()}, false, "marks"},
        Row{"MarkLets", {meta(NFT_META_MARK), cmp({7, 0, 0, 0}), accept()}, false, "marks"},
        Row{"Marks", {immediate({7, 0, 0, 0}), writing(meta(NFT_META_MARK))}, false, "marks packets"},
        Row{"BroutesAsNewerHeadersSay",
            {immediate({1}), writing(meta(NFT_META_SDIFNAME + 1))},
            false,
            "changes"},
        Row{"Traces", {immediate({1}), writing(meta(NFT_META_NFTRACE))}, false, "traced"},
        Row{"RewritesTheFrame", {immediate(someMac), writing(payload(0, 6, 6))}, false, "rewrites"},
        Row{"Limit", {of("limit"), accept()}, false, "decides"},
        Row{"Log", {of("log"), accept()}, false, "tells"}, Row{"Exempts", {of("notrack")}, false, "exempts"},
        Row{"Connections", {ct(NFT_CT_STATE), cmp({2, 0, 0, 0}), accept()}, false, "connections"},
        Row{"EbtablesLimit", {match("limit", 0), accept()}, false, "limit"},
        Row{"EbtablesIpOfAnotherRevision", {match("ip", 1), accept()}, false, "ip"},
        Row{"EbtablesPacketType", {match("pkttype", 0), accept()}, false, "pkttype"},
        Row{"EbtablesMark", {target("mark", 0)}, false, "mark"},
        Row{"EbtablesDnat", {target("dnat", 0)}, false, "dnat"},
        Row{"NotUnderstood", {notUnderstood(of("new"))}, false, "newer"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(RulesOfBridges, AreOfThePlacesThatFramesPassBetweenPorts) {
    for (const auto hook : {NF_INET_PRE_ROUTING, NF_INET_FORWARD, NF_INET_POST_ROUTING})
        EXPECT_FALSE(judgedOf(bridgeSetOf({of("limit"), accept()}, hook)).udp) << hook;
    for (const auto hook : {NF_INET_LOCAL_IN, NF_INET_LOCAL_OUT})
        EXPECT_TRUE(judgedOf(bridgeSetOf({of("limit"), accept()}, hook)).udp) << hook;
}

TEST(RulesOfBridges, AreJudgedByProtocol) {
    const auto judged = judgedOf(bridgeSetOf({meta(NFT_META_L4PROTO), cmp({6}), of("limit"), accept()}));
    EXPECT_FALSE(judged.tcp);
    EXPECT_TRUE(judged.udp);
}

/// Of either family, rules are in the way of their own packets only.
TEST(RulesOfBridges, AreApartFromOthers) {
    auto set = bridgeSetOf({of("limit"), accept()});
    set.generation = 7;
    const auto judged = assemble::judgeForFlows({.set = set, .ipv4 = {}, .ipv6 = {}, .bridge = {}}, {});
    EXPECT_TRUE(judged.ipv4.udp);
    EXPECT_TRUE(judged.obstacles.empty());
    EXPECT_FALSE(judged.bridge.udp);
    EXPECT_TRUE(judgedOf(ruleSetOf({{of("limit"), accept()}})).udp);
}

BridgeRules judgedWith(const char* function) {
    auto set = bridgeSetOf({accept()});
    set.functions->push_back({.family = model::RuleFamily::bridge,
                              .hook = NF_INET_PRE_ROUTING,
                              .priority = 0,
                              .function = function,
                              .module = {},
                              .ofTables = false,
                              .program = 0});
    return judgedOf(std::move(set));
}

TEST(RulesOfBridges, WithFunctionsBeside) {
    EXPECT_TRUE(judgedWith("br_nf_pre_routing").udp);
    EXPECT_TRUE(judgedWith("br_nf_pre_routing").calls);
    EXPECT_FALSE(judgedOf(bridgeSetOf({accept()})).calls);
    for (const char* other : {"ebt_do_table", "nf_ct_bridge_pre", "", "br_nf"}) {
        EXPECT_FALSE(judgedWith(other).udp) << other;
        EXPECT_FALSE(judgedWith(other).tcp) << other;
    }
}

/// Not only by rules that ask for them: `ct count` and helpers have them tracked as well.
TEST(RulesOfBridges, ThatHaveConnectionsTrackedAreInTheWayOfRouters) {
    const auto tcp = [](const char* function) {
        auto set = bridgeSetOf({accept()});
        set.generation = 7;
        set.functions->push_back({.family = model::RuleFamily::bridge,
                                  .hook = NF_INET_PRE_ROUTING,
                                  .priority = 0,
                                  .function = function,
                                  .module = {},
                                  .ofTables = false,
                                  .program = 0});
        const auto judged = assemble::judgeForFlows({.set = set, .ipv4 = {}, .ipv6 = {}, .bridge = {}}, {});
        EXPECT_TRUE(judged.ipv4.udp);
        EXPECT_EQ(judged.ipv4.tcp, judged.ipv6.tcp);
        return judged.ipv4.tcp;
    };
    EXPECT_TRUE(tcp("br_nf_pre_routing"));
    EXPECT_FALSE(tcp("nf_ct_bridge_pre"));
}

TEST(RulesOfBridges, OfLegacyTables) {
    auto set = bridgeSetOf({accept()});
    set.legacyTables = {"bridge filter"};
    EXPECT_FALSE(judgedOf(std::move(set)).udp);
}

TEST(RulesOfBridges, SayWhereTheirFunctionsLie) {
    EXPECT_EQ(judgedOf(bridgeSetOf({accept()})).functions.at(1), (assemble::FunctionPlace{0x2000, 1}));
}

} // namespace
} // namespace tna::test
