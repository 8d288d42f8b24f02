// SPDX-License-Identifier: Apache-2.0
// Rules that put marks on packets, by which these may be routed.
#include "assemble/rules/flows.hpp"
#include "rule_builder.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

assemble::RuleJudgement judgedMarks(model::RuleSet set) {
    set.generation = 7;
    return assemble::judgeForFlows({.set = std::move(set), .ipv4 = {}, .ipv6 = {}}, {});
}

/// Before they are routed, and of TCP in the middle of a connection.
TEST(MarkingRules, WhetherPacketsOfTcpAreMarkedEarly) {
    const auto marking = [](std::uint32_t hook, std::vector<model::RuleExpression> rule = {}) {
        auto set = ruleSetOf({{ct(NFT_CT_STATE), bitwise({1, 0, 0, 0}, {0, 0, 0, 0}),
                               cmp({0, 0, 0, 0}, NFT_CMP_NEQ), drop()}});
        rule.insert(rule.end(), {immediate({7, 0, 0, 0}), writing(meta(NFT_META_MARK))});
        set.chains.push_back(baseOf("marks", hook, 10, {rule}));
        return set;
    };
    auto early = marking(NF_INET_PRE_ROUTING);
    EXPECT_TRUE(judgedMarks(early).ipv4.tcpMarkedEarly);
    EXPECT_FALSE(judgedMarks(early).ipv4.tcpByMark());
    EXPECT_FALSE(judgedMarks(marking(NF_INET_FORWARD)).ipv4.tcpMarkedEarly);
    EXPECT_FALSE(
        judgedMarks(marking(NF_INET_PRE_ROUTING, {meta(NFT_META_L4PROTO), cmp({17})})).ipv4.tcpMarkedEarly);
    EXPECT_FALSE(
        judgedMarks(marking(NF_INET_PRE_ROUTING, {ct(NFT_CT_STATE), bitwise({8, 0, 0, 0}, {0, 0, 0, 0}),
                                                  cmp({0, 0, 0, 0}, NFT_CMP_NEQ)}))
            .ipv4.tcpMarkedEarly)
        << "new connections only";
    early.chains.push_back(
        baseOf("early", NF_INET_PRE_ROUTING, -150, {early.chains.front().rules.front().expressions}));
    EXPECT_TRUE(judgedMarks(early).ipv4.tcpByMark());
}

} // namespace
} // namespace tna::test
