// SPDX-License-Identifier: Apache-2.0
// What becomes of segments that connection tracking calls invalid, where that depends on the devices.
#include "assemble/rules/flows.hpp"
#include "rule_builder.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/ranges.h>
#include <functional>
#include <gtest/gtest.h>
#include <linux/netfilter/xt_CT.h>
#include <set>
#include <tna/connection.h>

namespace tna::test {
namespace {

assemble::RuleJudgement judged(model::RuleSet set, const assemble::SpecialDevices& devices) {
    set.generation = 7;
    return assemble::judgeForFlows({.set = std::move(set), .ipv4 = {}, .ipv6 = {}}, {}, devices);
}

std::vector<model::RuleExpression> between(const char* from, const char* to,
                                           const model::RuleExpression& verdict,
                                           std::vector<model::RuleExpression> more = {}) {
    const auto name = [](const char* text) {
        std::vector<std::uint8_t> bytes(16);
        std::copy_n(text, std::strlen(text), bytes.begin());
        return bytes;
    };
    std::vector<model::RuleExpression> rule;
    if (from != nullptr)
        rule.insert(rule.end(), {meta(NFT_META_IIFNAME), cmp(name(from))});
    if (to != nullptr)
        rule.insert(rule.end(), {meta(NFT_META_OIFNAME), cmp(name(to))});
    rule.insert(rule.end(), more.begin(), more.end());
    rule.push_back(verdict);
    return rule;
}

const assemble::SpecialDevices twoRouted{
    .others = {{.name = "lan", .ifindex = 2, .group = 0}, {.name = "wan", .ifindex = 3, .group = 0}}};

std::string textOf(const assemble::FlowRules& rules) {
    std::set<std::string> texts;
    for (const auto& way : rules.invalidWays)
        texts.insert(way.from.name + ">" + (way.to ? way.to->name : "any") +
                     (way.fate.becomes == assemble::Invalid::passed ? " passed"
                      : way.fate.early                              ? " dropped early"
                                                                    : " dropped"));
    return fmt::format("{}", fmt::join(texts, ", "));
}

/// "lan>wan passed", of rules behind one that accepts what is established, or of all.
std::string waysOf(std::vector<std::vector<model::RuleExpression>> rules, std::uint32_t policy = NF_DROP,
                   const std::function<void(model::RuleSet&)>& change = {}) {
    rules.insert(rules.begin(), {ct(NFT_CT_STATE), bitwise({2, 0, 0, 0}, {0, 0, 0, 0}),
                                 cmp({0, 0, 0, 0}, NFT_CMP_NEQ), accept()});
    auto set = ruleSetOf(std::move(rules));
    set.chains.front().policy = policy;
    if (change)
        change(set);
    return textOf(judged(std::move(set), twoRouted).ipv4);
}

/// p2, p3, and so on.
assemble::SpecialDevices many(std::uint32_t number) {
    assemble::SpecialDevices devices;
    for (std::uint32_t ifindex = 2; ifindex < number + 2; ifindex++)
        devices.others.push_back({.name = "p" + std::to_string(ifindex), .ifindex = ifindex, .group = 0});
    return devices;
}

const std::vector<model::RuleExpression> invalidDropped{ct(NFT_CT_STATE), bitwise({1, 0, 0, 0}, {0, 0, 0, 0}),
                                                        cmp({0, 0, 0, 0}, NFT_CMP_NEQ), drop()};

/// Behind it all that is invalid is dropped.
assemble::FlowRules droppedAtLast(const std::vector<model::RuleExpression>& rule,
                                  std::uint32_t hook = NF_INET_FORWARD, std::int32_t priority = -10,
                                  const char* family = "ip") {
    auto set = ruleSetOf({invalidDropped});
    set.chains.push_back(baseOf("before", hook, priority, {rule}));
    const auto judgement = judged(std::move(set), twoRouted);
    return std::string(family) == "ip" ? judgement.ipv4 : judgement.ipv6;
}

TEST(InvalidWays, WhatBecomesOfInvalidPacketsBetweenDevices) {
    const std::vector<model::RuleExpression> port{payload(2, 0, 2), cmp({0, 22})};
    EXPECT_EQ(waysOf({between("lan", "wan", accept())}), "lan>lan dropped, lan>wan passed, wan>any dropped");
    EXPECT_EQ(waysOf({between("lan", nullptr, accept())}), "lan>any passed, wan>any dropped");
    EXPECT_EQ(waysOf({between(nullptr, "lan", accept())}),
              "lan>lan passed, lan>wan dropped, wan>lan passed, wan>wan dropped");
    EXPECT_EQ(waysOf({between("dmz", nullptr, accept(), port), between("lan", "dmz", accept(), port),
                      between("lan", "wan", accept())}),
              "lan>lan dropped, lan>wan passed, wan>any dropped");
    EXPECT_EQ(waysOf({between("lan", "wan", accept(), port), between("wan", "lan", accept())}),
              "lan>lan dropped, wan>lan passed, wan>wan dropped");
    EXPECT_EQ(waysOf({between("lan", "wan", drop())}, NF_ACCEPT),
              "lan>lan passed, lan>wan dropped, wan>any passed");
    EXPECT_EQ(waysOf({between("lan", "wan", drop(), port), between("wan", nullptr, drop())}, NF_ACCEPT),
              "lan>lan passed, wan>any dropped");
    EXPECT_EQ(waysOf({between("lan", "wan", of("reject"))}, NF_ACCEPT), "lan>lan passed, wan>any passed")
        << "it is answered";
    EXPECT_EQ(waysOf({between("lan", nullptr, of("queue"))}, NF_ACCEPT), "wan>any passed");
}

TEST(InvalidWays, WhatBecomesOfInvalidPacketsBetweenDevicesAtAllPlaces) {
    const auto at = [](std::uint32_t hook, std::int32_t priority, std::vector<model::RuleExpression> rule) {
        return [=](model::RuleSet& set) { set.chains.push_back(baseOf("more", hook, priority, {rule})); };
    };
    const std::vector<std::vector<model::RuleExpression>> some{between("lan", "wan", accept())};
    // Behind where they are dropped nothing counts, in front of it what may treat them.
    EXPECT_EQ(waysOf(some, NF_DROP, at(NF_INET_FORWARD, 10, {of("reject")})),
              "lan>lan dropped, wan>any dropped");
    EXPECT_EQ(waysOf(some, NF_DROP, at(NF_INET_FORWARD, -10, between("wan", nullptr, of("reject")))),
              "lan>lan dropped, lan>wan passed");
    EXPECT_EQ(waysOf(some, NF_DROP, at(NF_INET_PRE_ROUTING, -150, between("wan", nullptr, of("reject")))),
              "lan>lan dropped, lan>wan passed");
    EXPECT_EQ(waysOf(some, NF_DROP, at(NF_INET_PRE_ROUTING, -150, between("lan", nullptr, drop()))),
              "lan>any dropped early, wan>any dropped");
    EXPECT_EQ(waysOf(some, NF_DROP, at(NF_INET_PRE_ROUTING, -300, between("lan", nullptr, drop()))),
              "lan>lan dropped, lan>wan passed, wan>any dropped")
        << "connection tracking does not see them";
    EXPECT_EQ(waysOf(some, NF_DROP, at(NF_INET_PRE_ROUTING, -150, between(nullptr, "wan", drop()))),
              "lan>lan dropped early, wan>any dropped early")
        << "it is not known yet where they leave";
    EXPECT_EQ(waysOf(some, NF_DROP, at(NF_INET_POST_ROUTING, 0, between(nullptr, "wan", drop()))),
              "lan>lan dropped, lan>wan dropped, wan>any dropped");
    EXPECT_EQ(waysOf(some, NF_DROP, at(NF_INET_POST_ROUTING, 0, between("lan", nullptr, drop()))),
              "lan>lan dropped, wan>any dropped")
        << "nor any more where they came";
    // A mark may lead them elsewhere.
    EXPECT_EQ(waysOf(some, NF_DROP,
                     at(NF_INET_PRE_ROUTING, -150,
                        {meta(NFT_META_IIF), cmp({2, 0, 0, 0}), immediate({1, 0, 0, 0}),
                         writing(meta(NFT_META_MARK))})),
              "wan>any dropped");
    // Not tracked, or in another zone: they are not called invalid. Those of a connection that is tracked are
    // not exempted by what all of its packets have in common.
    const std::vector<model::RuleExpression> exempts{meta(NFT_META_IIF), cmp({9, 0, 0, 0}), of("notrack")};
    EXPECT_EQ(waysOf(some, NF_DROP, at(NF_INET_PRE_ROUTING, -300, exempts)),
              "lan>lan dropped, lan>wan passed, wan>any dropped");
    EXPECT_EQ(waysOf(some, NF_DROP, at(NF_INET_PRE_ROUTING, -201, exempts)), "");
    EXPECT_EQ(waysOf(some, NF_DROP,
                     at(NF_INET_PRE_ROUTING, -300,
                        {meta(NFT_META_IIF), cmp({9, 0, 0, 0}), writing(ct(NFT_CT_ZONE))})),
              "");
    for (const auto& [zone, flags] : {std::pair{7, 0}, {0, 1 << 4 /* XT_CT_ZONE_MARK */}}) {
        xt_ct_target_info info{};
        info.zone = static_cast<std::uint16_t>(zone);
        info.flags = static_cast<std::uint16_t>(flags);
        EXPECT_EQ(waysOf(some, NF_DROP,
                         at(NF_INET_PRE_ROUTING, -300,
                            {meta(NFT_META_IIF), cmp({9, 0, 0, 0}), target("CT", 2, bytesOf(info))})),
                  "")
            << flags;
    }
}

/// Where all of it is known, nothing is in the way of TCP.
TEST(InvalidWays, WaysThatAreKnownAreNamed) {
    const auto reasons = [](std::vector<std::vector<model::RuleExpression>> rules) {
        auto set = ruleSetOf(std::move(rules));
        set.chains.front().policy = NF_DROP;
        std::string text;
        for (const auto& obstacle : judged(std::move(set), twoRouted).obstacles)
            text += obstacle.reason + "\n";
        return text;
    };
    const std::vector<model::RuleExpression> port{payload(2, 0, 2), cmp({0, 22})};
    EXPECT_EQ(reasons({between("lan", "wan", accept())}), "");
    EXPECT_EQ(
        reasons({between("lan", "wan", accept(), port)}),
        "what becomes of packets of TCP that connection tracking calls invalid depends on more than that; it "
        "is known from lan to lan, from wan\n");
}

/// No more than there is room for, and not in pairs of many.
TEST(InvalidWays, BetweenManyDevices) {
    const auto known = [](std::uint32_t number, const char* to) {
        auto set = ruleSetOf({between("p2", to, accept())});
        set.chains.front().policy = NF_DROP;
        return judged(std::move(set), many(number)).ipv4.invalidWays.size();
    };
    EXPECT_EQ(known(16, "p3"), 31U);
    EXPECT_EQ(known(17, "p3"), 17U) << "within themselves only";
    EXPECT_EQ(known(TNA_JUDGED_WAYS_MAX, nullptr), std::size_t{TNA_JUDGED_WAYS_MAX});
    EXPECT_EQ(known(TNA_JUDGED_WAYS_MAX + 1, nullptr), std::size_t{TNA_JUDGED_WAYS_MAX});
}

/// Nor in more time than there is.
TEST(InvalidWays, WithManyRules) {
    std::vector<std::vector<model::RuleExpression>> rules(1U << 17U, {of("counter"), of("counter")});
    rules.push_back(between("p2", nullptr, accept()));
    auto set = ruleSetOf(std::move(rules));
    set.chains.front().policy = NF_DROP;
    EXPECT_EQ(judged(std::move(set), many(9)).ipv4.invalidWays.size(), 8U);
}

TEST(InvalidWays, WaysBeyondTheFirstAreCounted) {
    auto set = ruleSetOf({between("p2", "p3", accept(), {payload(2, 0, 2), cmp({0, 22})})});
    set.chains.front().policy = NF_DROP;
    const auto judgement = judged(std::move(set), many(12));
    ASSERT_FALSE(judgement.obstacles.empty());
    EXPECT_TRUE(judgement.obstacles.front().reason.ends_with("from p9, and 14 other ways"))
        << judgement.obstacles.front().reason;
}

/// Where all of them are dropped sooner or later, it matters whether some are before they are routed.
TEST(InvalidWays, WhetherSomeAreDroppedEarly) {
    const auto early = [](const std::vector<model::RuleExpression>& rule) {
        const auto rules = droppedAtLast(rule, NF_INET_PRE_ROUTING, -150);
        EXPECT_EQ(rules.invalid, assemble::Invalid::dropped);
        EXPECT_FALSE(rules.asksDevices);
        return std::pair(rules.invalidDroppedEarly, rules.invalidSomeEarly);
    };
    EXPECT_EQ(early(invalidDropped), std::pair(true, true));
    EXPECT_EQ(early(between("wan", nullptr, drop())), std::pair(false, true));
    EXPECT_EQ(early({payload(2, 0, 2), cmp({0, 22}), drop()}), std::pair(false, true));
    EXPECT_EQ(early({of("counter")}), std::pair(false, false));
}

/// What loads something that nobody knows leaves nothing of what was known before.
TEST(InvalidWays, WhatIsLoadedInPlaceOfADevice) {
    const auto random = [](const model::RuleExpression& verdict) {
        return between("lan", nullptr, verdict, {of("numgen"), cmp({0, 0, 0, 0})});
    };
    EXPECT_EQ(waysOf({random(drop())}, NF_ACCEPT), "wan>any passed");
    EXPECT_EQ(waysOf({random(accept())}), "wan>any dropped");
    auto newer = between("lan", nullptr, drop(), {of("newer"), cmp({0, 0, 0, 0})});
    newer.at(2).understood = false;
    EXPECT_EQ(waysOf({newer}, NF_ACCEPT), "wan>any passed");
    EXPECT_EQ(droppedAtLast({meta(NFT_META_L4PROTO), cmp({6}), of("numgen"), cmp({1, 0, 0, 0}), accept()},
                            NF_INET_PRE_ROUTING, -150)
                  .invalid,
              assemble::Invalid::dropped);
    EXPECT_EQ(droppedAtLast({meta(NFT_META_L4PROTO), cmp({6}), of("numgen"), cmp({1, 0, 0, 0}), of("reject")})
                  .invalid,
              assemble::Invalid::depends);
}

/// Connection tracking may have seen packets in a chain of its own priority.
TEST(InvalidWays, WhereConnectionsAreLookedUp) {
    const auto becomes = [](const model::RuleExpression& verdict) {
        auto rule = invalidDropped;
        rule.back() = verdict;
        return droppedAtLast(rule, NF_INET_PRE_ROUTING, -200);
    };
    EXPECT_EQ(becomes(of("reject")).invalid, assemble::Invalid::depends);
    EXPECT_EQ(becomes(drop()).invalid, assemble::Invalid::dropped);
    EXPECT_FALSE(becomes(drop()).invalidDroppedEarly);
    EXPECT_EQ(waysOf({between("lan", "wan", accept())}, NF_DROP,
                     [](model::RuleSet& set) {
                         set.chains.push_back(baseOf("more", NF_INET_PRE_ROUTING, -200,
                                                     {between("lan", nullptr, of("reject"))}));
                     }),
              "wan>any dropped");
}

/// Over IPv6 others may be in front of TCP's.
TEST(InvalidWays, BehindExtensionHeaders) {
    auto rule = invalidDropped;
    rule.insert(rule.begin(), {payload(1, 6, 1), cmp({6})});
    auto set = ruleSetOf({rule});
    set.chains.front().family = set.tables.front().family = model::RuleFamily::inet;
    const auto judgement = judged(std::move(set), twoRouted);
    EXPECT_EQ(judgement.ipv6.invalid, assemble::Invalid::depends);
}

TEST(InvalidWays, WithHeadersThatPacketsInTheMiddleOfAFlowHaveNot) {
    const auto becomes = [](model::RuleFamily family, model::RuleExpression load,
                            model::RuleExpression asks) {
        auto set = ruleSetOf({{std::move(load), std::move(asks), drop()}});
        set.chains.front().family = set.tables.front().family = family;
        const auto judgement = judged(std::move(set), twoRouted);
        return family == model::RuleFamily::ip ? judgement.ipv4.invalid : judgement.ipv6.invalid;
    };
    using enum model::RuleFamily;
    auto fragment = of("exthdr", NFT_REG_1, 44);
    EXPECT_EQ(becomes(ip6, fragment, cmp({1, 2, 3, 4})), assemble::Invalid::depends) << "a part of it";
    fragment.offset = NFT_EXTHDR_F_PRESENT;
    EXPECT_EQ(becomes(ip6, fragment, cmp({1})), assemble::Invalid::depends);
    EXPECT_EQ(becomes(ip, payload(1, 0, 1), cmp({0x45}, NFT_CMP_NEQ)), assemble::Invalid::depends);
    EXPECT_EQ(becomes(ip, payload(1, 0, 1), cmp({0x65})), assemble::Invalid::passed) << "of IPv4, any is";
}

/// As many obstacles as are named do not hide that there are others.
TEST(InvalidWays, WhereOthersTreatPacketsFirst) {
    const auto becomes = [](std::size_t limits, bool function) {
        std::vector<std::vector<model::RuleExpression>> rules{invalidDropped};
        rules.insert(rules.end(), limits, {of("limit"), accept()});
        auto set = ruleSetOf(std::move(rules));
        if (function)
            set.functions->push_back({.family = model::RuleFamily::ip,
                                      .hook = NF_INET_FORWARD,
                                      .priority = -5,
                                      .function = "other"});
        return judged(std::move(set), twoRouted).ipv4.invalid;
    };
    EXPECT_EQ(becomes(0, true), assemble::Invalid::depends);
    EXPECT_EQ(becomes(30, false), assemble::Invalid::dropped);
    EXPECT_EQ(becomes(30, true), assemble::Invalid::depends);
}

} // namespace
} // namespace tna::test
