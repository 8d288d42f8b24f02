// SPDX-License-Identifier: Apache-2.0
// Rules that put marks on packets, by which these may be routed.
#include "assemble/rules/flows.hpp"
#include "rule_builder.hpp"

#include <gtest/gtest.h>
#include <linux/netfilter/xt_connmark.h>
#include <linux/netfilter/xt_mark.h>

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

/// By their marks, what lies between two places may treat them in another way.
TEST(MarkingRules, InvalidPacketsMayHaveMarksWhereTheyEnd) {
    const std::vector marks{immediate({7, 0, 0, 0}), writing(meta(NFT_META_MARK))};
    const auto becomes = [&](std::uint32_t marked, std::uint32_t ends) {
        auto set = ruleSetOf({});
        set.chains.push_back(baseOf("marks", marked, -150, {marks}));
        set.chains.push_back(baseOf("ends", ends, 0, {{drop()}}));
        return judgedMarks(std::move(set)).ipv4.invalid;
    };
    for (const std::uint32_t place : {NF_INET_PRE_ROUTING, NF_INET_FORWARD, NF_INET_POST_ROUTING})
        EXPECT_EQ(becomes(place, place), assemble::Invalid::dropped) << place;
    EXPECT_EQ(becomes(NF_INET_PRE_ROUTING, NF_INET_FORWARD), assemble::Invalid::depends);
    EXPECT_EQ(becomes(NF_INET_FORWARD, NF_INET_POST_ROUTING), assemble::Invalid::depends);
}

/// Established connections have to be accepted behind what gives their packets marks.
TEST(MarkingRules, AreNotToBePassedBy) {
    const std::vector limited{of("limit"), accept()};
    const auto hint = [&](std::vector<model::RuleExpression> before) {
        return judgedForward(ruleSetOf({std::move(before), limited})).obstacles.at(0).hint;
    };
    EXPECT_TRUE(hint({of("counter")}).contains("nft insert rule ip t forward"));
    EXPECT_TRUE(
        hint({immediate({7, 0, 0, 0}), writing(meta(NFT_META_MARK))}).ends_with("their packets marks"));
}

using Rule = std::vector<model::RuleExpression>;

Rule joined(const std::vector<Rule>& parts) {
    Rule rule;
    for (const auto& part : parts)
        rule.insert(rule.end(), part.begin(), part.end());
    return rule;
}

Rule saving(std::uint32_t packetMask = ~0U, std::uint32_t mask = ~0U, std::uint8_t shift = 0) {
    xt_connmark_tginfo2 info{};
    info.mode = XT_CONNMARK_SAVE;
    info.nfmask = packetMask;
    info.ctmask = mask;
    info.shift_bits = shift;
    return {target("CONNMARK", 2, bytesOf(info))};
}

Rule marked(std::uint32_t mark, std::uint32_t mask = ~0U, bool inverted = false) {
    xt_mark_mtinfo1 info{};
    info.mark = mark;
    info.mask = mask;
    info.invert = inverted ? 1 : 0;
    return {match("mark", 1, bytesOf(info))};
}

const Rule loaded{meta(NFT_META_MARK)};
const Rule markedSeven{meta(NFT_META_MARK), cmp({7, 0, 0, 0})};
const Rule saved{meta(NFT_META_MARK), writing(ct(NFT_CT_MARK))};

bool isConstant(const std::vector<Rule>& parts) {
    return judgedForward(ruleSetOf({joined(parts)})).obstacles.empty();
}

/// It is a constant then.
TEST(SavedMarks, OfPacketsWhoseMarkTheRuleHasAskedFor) {
    EXPECT_FALSE(isConstant({saved}));
    EXPECT_TRUE(isConstant({markedSeven, saved}));
    EXPECT_TRUE(isConstant({markedSeven, {of("counter"), meta(NFT_META_L4PROTO), cmp({17})}, saved}));
    EXPECT_FALSE(isConstant({loaded, {cmp({7, 0, 0, 0}, NFT_CMP_NEQ)}, saved}));
    EXPECT_FALSE(isConstant({loaded, {cmp({7, 0, 0, 0}, NFT_CMP_GTE)}, saved}));
    EXPECT_FALSE(isConstant({loaded, {cmp({7, 0})}, saved})) << "a part of it";
    EXPECT_FALSE(isConstant({loaded, {bitwise({7, 0, 0, 0}, {0, 0, 0, 0}), cmp({7, 0, 0, 0})}, saved}));
    EXPECT_FALSE(isConstant({{meta(NFT_META_IIF), cmp({7, 0, 0, 0})}, saved})) << "of another thing";
    EXPECT_FALSE(isConstant({loaded, {payload(1, 12, 4), cmp({7, 0, 0, 0})}, saved}));
    EXPECT_FALSE(isConstant({markedSeven, {ct(NFT_CT_MARK), writing(meta(NFT_META_MARK))}, saved}))
        << "it is another one by then";
    const Rule seven{immediate({7, 0, 0, 0}), writing(meta(NFT_META_MARK))};
    EXPECT_TRUE(isConstant({seven, saved})) << "it has set it";
    EXPECT_TRUE(isConstant({seven, saving()}));
    EXPECT_FALSE(
        isConstant({seven, {immediate({1, 0, 0, 0}), ct(NFT_CT_MARK), writing(meta(NFT_META_MARK))}, saved}));
    EXPECT_TRUE(isConstant({markedSeven, {match("comment", 0)}, saving()}));
    EXPECT_FALSE(isConstant({markedSeven, {target("MARK", 2)}, saving()}));
}

TEST(SavedMarks, ByIptables) {
    EXPECT_FALSE(isConstant({saving()}));
    EXPECT_TRUE(isConstant({marked(7), saving()}));
    EXPECT_TRUE(isConstant({marked(7), saved}));
    EXPECT_TRUE(isConstant({marked(7), saving(0xff, 0xff)}));
    EXPECT_TRUE(isConstant({marked(7), saving(4, 6)}));
    EXPECT_FALSE(isConstant({marked(7), saving(7, 6)})) << "it turns a bit";
    EXPECT_FALSE(isConstant({marked(7), saving(~0U, ~0U, 1)}));
    EXPECT_FALSE(isConstant({marked(7, 0xff), saving()})) << "not all of it";
    EXPECT_FALSE(isConstant({marked(7, ~0U, true), saving()}));
    EXPECT_FALSE(isConstant({marked(7), {target("MARK", 2)}, saving()}));
    auto later = marked(7);
    later.front().key = 2;
    EXPECT_FALSE(isConstant({later, saving()}));
    auto newer = saving();
    newer.front().understood = false;
    EXPECT_FALSE(isConstant({marked(7), newer}));
}

/// One value in all rules.
TEST(SavedMarks, AreTheSameInAllRules) {
    const auto steady = [](const Rule& one, const Rule& other) {
        return judgedForward(ruleSetOf({one, other})).obstacles.empty();
    };
    const Rule seven = joined({marked(7), saving()}), eight = joined({marked(8), saving()});
    EXPECT_TRUE(steady(seven, seven));
    EXPECT_FALSE(steady(seven, eight));
    EXPECT_TRUE(steady(joined({marked(7), saving(4, 4)}), joined({marked(6), saving(2, 2)})));
    EXPECT_FALSE(steady(joined({marked(7), saving(4, 4)}), joined({marked(3), saving(4, 4)})));
    EXPECT_TRUE(steady(seven, joined({markedSeven, saved})));
}

} // namespace
} // namespace tna::test
