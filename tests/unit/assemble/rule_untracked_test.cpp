// SPDX-License-Identifier: Apache-2.0
// For which rules flows may be learnt where nobody tracks connections.
#include "assemble/rules/flows.hpp"
#include "rule_builder.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

assemble::RuleJudgement judgedFor(model::RuleSet set) {
    set.generation = 7;
    return assemble::judgeForFlows({.set = std::move(set), .ipv4 = {}, .ipv6 = {}}, {}, {});
}

/// Without connection tracking, rules that ask for what is the same in all of a flow are steady; nothing is
/// known of connections, and no packet is called invalid.
TEST(UntrackedRules, AreSteadyByThemselves) {
    auto set = ruleSetOf({{payload(2, 2, 2), cmp({0x13, 0x88}), accept()}, {of("limit"), accept()}});
    set.functions->clear();
    EXPECT_FALSE(judgedFor(set).ipv4.udp);
    set.chains[0].rules.pop_back();
    const auto judgement = judgedFor(set);
    EXPECT_TRUE(judgement.ipv4.untracked && judgement.ipv4.udp && judgement.ipv4.tcp);
    EXPECT_EQ(judgement.ipv4.invalid, assemble::Invalid::passed);
    EXPECT_FALSE(judgement.ipv4.translatedTcp());
    EXPECT_TRUE(judgement.obstacles.empty());
    EXPECT_FALSE(judgedFor(ruleSetOf({{accept()}})).ipv4.untracked);
    // A rule that accepts established connections, say, accepts none of them.
    set = ruleSetOf({{ct(NFT_CT_STATE), cmp({2, 0, 0, 0}), accept()}, {of("limit"), accept()}});
    EXPECT_TRUE(judgedFor(set).ipv4.udp);
    std::erase_if(*set.functions, [](const auto& one) { return one.family == model::RuleFamily::ip; });
    EXPECT_FALSE(judgedFor(set).ipv4.udp);
    EXPECT_FALSE(judgedFor(set).ipv6.untracked) << "each family by itself";
    set.functions->push_back({.family = model::RuleFamily::ip,
                              .hook = NF_INET_PRE_ROUTING,
                              .priority = -200,
                              .function = "",
                              .module = {},
                              .ofTables = false,
                              .program = 0});
    EXPECT_FALSE(judgedFor(set).ipv4.untracked) << "a function whose name is not known";
}

} // namespace
} // namespace tna::test
