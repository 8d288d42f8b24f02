// SPDX-License-Identifier: Apache-2.0
// Functions that netfilter calls beside the rules.
#include "assemble/rules/functions.hpp"
#include "rule_builder.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

using model::RuleFamily;

bool steady(const model::RuleSet& set) {
    const auto hook = judgedForward(set);
    return hook.steadyForTcp && hook.steadyForUdp;
}

TEST(Others, WhatNetfilterCallsMustBeKnown) {
    auto set = ruleSetOf({{accept()}});
    EXPECT_TRUE(steady(set));
    set.functions.reset();
    EXPECT_EQ(judgedForward(set).obstacles.at(0).reason,
              "it is not known which functions netfilter calls here");
    EXPECT_FALSE(judgedAt(set, RuleFamily::bridge, NF_INET_FORWARD).steadyForUdp);
}

TEST(Others, FunctionsAreKnownByTheirWholeNames) {
    const auto with = [](const char* function, bool ofTables = false) {
        auto set = emptyRuleSet();
        set.functions->push_back({RuleFamily::ip, NF_INET_FORWARD, 0, function, "a_module", ofTables});
        return judgedForward(set);
    };
    for (const auto* known : {"ipv4_conntrack_in", "nf_confirm", "nf_nat_ipv4_out", "ip_sabotage_in",
                              "apparmor_ip_postroute", "apparmor_ipv6_postroute"})
        EXPECT_TRUE(with(known).steadyForTcp) << known;
    EXPECT_TRUE(with("nft_do_chain_ipv4", true).steadyForTcp) << "its rules are walked";
    for (const auto* unknown : {"selinux_ip_forward", "my_ip_vs_hook", "", "nft_do_chain_ipv4",
                                "my_conntrack_spy", "ipv4_conntrack_in.cold", "nf_nat", "ipt_do_table"}) {
        const auto hook = with(unknown);
        ASSERT_FALSE(hook.steadyForTcp || hook.steadyForUdp) << unknown;
        EXPECT_TRUE(hook.obstacles[0].reason.contains(*unknown == 0 ? "without a name" : unknown));
        EXPECT_TRUE(hook.obstacles[0].reason.contains("a_module"));
    }
}

TEST(Others, IpvsIsNamed) {
    for (const auto* function : {"ip_vs_out_hook", "ip_vs_forward_icmp", "ip_vs_reply4"}) {
        auto set = emptyRuleSet();
        set.functions->push_back({RuleFamily::ip, NF_INET_FORWARD, 100, function, "ip_vs", false});
        const auto hook = judgedForward(set);
        ASSERT_FALSE(hook.steadyForTcp || hook.steadyForUdp);
        EXPECT_TRUE(hook.obstacles[0].reason.starts_with("IPVS (" + std::string(function) + ")"));
        EXPECT_TRUE(hook.obstacles[0].hint.contains("ipvsadm -Ln"));
    }
}

TEST(Others, FunctionsInTheWayAreToldOnceEach) {
    const auto at = [](std::uint32_t hook, RuleFamily family, const char* name, bool ofTables = false) {
        return model::HookFunction{family, hook, 0, name, "", ofTables};
    };
    const auto told = assemble::rules::functionsInTheWay(
        {at(NF_INET_FORWARD, RuleFamily::ip, "ip_vs_out_hook"),
         at(NF_INET_FORWARD, RuleFamily::ip6, "ip_vs_out_hook"),
         at(NF_INET_POST_ROUTING, RuleFamily::ip, "my_spy"), at(NF_INET_LOCAL_IN, RuleFamily::ip, "for_host"),
         at(NF_INET_FORWARD, RuleFamily::bridge, "for_bridges"),
         at(NF_INET_FORWARD, RuleFamily::ip, "nft_do_chain_inet", true),
         at(NF_INET_PRE_ROUTING, RuleFamily::ip, "ipv4_conntrack_in")});
    ASSERT_EQ(told.size(), 2U);
    EXPECT_TRUE(told[0].reason.starts_with("IPVS"));
    EXPECT_TRUE(told[1].reason.contains("my_spy"));
}

TEST(Others, FunctionsOfOtherPlacesAreNotInTheWay) {
    auto set = emptyRuleSet();
    set.functions->push_back({RuleFamily::ip, NF_INET_LOCAL_OUT, 0, "selinux_ip_output", "", false});
    set.functions->push_back({RuleFamily::ip6, NF_INET_FORWARD, 0, "selinux_ip_forward", "", false});
    EXPECT_TRUE(steady(set));
    EXPECT_FALSE(judgedAt(set, RuleFamily::ip6, NF_INET_FORWARD).steadyForTcp);
}

} // namespace
} // namespace tna::test
