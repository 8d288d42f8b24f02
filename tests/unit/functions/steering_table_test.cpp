// SPDX-License-Identifier: Apache-2.0
// What is refused, and the shape of tables; what they find is compared with rules one by one in
// tests/bpf/steer.
#include "functions/steering_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

namespace tna::functions {
namespace {

using ::testing::HasSubstr;
using Interfaces = std::map<std::string, unsigned>;

const Interfaces ports{{"p0", 3}, {"p1", 4}};

Declaration declared(const std::string& name, std::vector<Rule> rules) {
    return {.name = name, .ports = {"p0"}, .rules = std::move(rules)};
}

Steered steered(const Declaration& declaration, unsigned number = 0) {
    Steered function{number, &declaration, std::vector<unsigned>(declaration.rules.size())};
    std::iota(function.ruleNumbers.begin(), function.ruleNumbers.end(), number * 1000);
    return function;
}

Result<SteeringTable> tableOf(const std::vector<Declaration>& all, const Interfaces& there = ports) {
    std::vector<Steered> functions;
    for (std::size_t i = 0; i < all.size(); i++)
        functions.push_back(steered(all[i], static_cast<unsigned>(i)));
    return makeTable(functions, there);
}

std::string refusalOf(const std::vector<Declaration>& all) {
    const auto table = tableOf(all);
    return table ? "" : table.error().sentence();
}

const Rule dns{.protocol = 17, .toPort = PortRange{53, 53}};

TEST(SteeringTable, RulesThatLookAtTheSameShareAMask) {
    const auto table = tableOf({declared("a", {dns, {.protocol = 17, .toPort = PortRange{54, 54}}})});
    ASSERT_TRUE(table);
    EXPECT_EQ(table->masks.masks, 1U);
    EXPECT_EQ(std::ranges::count_if(table->entries, [](const auto& entry) { return entry.rank != 0; }), 2);
}

TEST(SteeringTable, PortsThatAreNotThereHaveNoPartInIt) {
    const auto table = tableOf({declared("a", {dns})}, {});
    ASSERT_TRUE(table);
    EXPECT_EQ(table->masks.masks, 0U);
}

TEST(SteeringTable, MasksWithTheFirstRulesComeFirst) {
    const auto table = tableOf(
        {declared("a", {{.priority = 200, .protocol = 1}, {.priority = 3, .vlan = 5}, {.priority = 50}})});
    ASSERT_TRUE(table);
    ASSERT_EQ(table->masks.masks, 3U);
    EXPECT_EQ(table->masks.mask[0].best, 65535U - 3);
    EXPECT_EQ(table->masks.mask[1].best, 65535U - 50);
    EXPECT_EQ(table->masks.mask[2].best, 65535U - 200);
}

TEST(SteeringTable, FunctionsMustNotWantTheSameFrames) {
    const Rule fromTen{.from = parsePrefix("10.0.0.0/8")};
    EXPECT_THAT(refusalOf({declared("a", {dns}), declared("b", {dns})}),
                HasSubstr("rule 1 of 'a' and rule 1 of 'b' want the same frames"));
    EXPECT_THAT(refusalOf({declared("a", {dns}), declared("b", {fromTen})}),
                HasSubstr("want the same frames: both have the priority 100"))
        << "UDP to port 53 from 10.0.0.0/8";
    EXPECT_EQ(refusalOf({declared("a", {dns}), declared("b", {{.priority = 99, .from = fromTen.from}})}), "")
        << "one of them comes first";
    EXPECT_EQ(refusalOf({declared("a", {dns}), declared("b", {{.protocol = 6}})}), "") << "no frame is both";
    EXPECT_EQ(refusalOf({declared("a", {dns, fromTen})}), "") << "one function may say so twice";
    auto elsewhere = declared("b", {dns});
    elsewhere.ports = {"p1"};
    EXPECT_EQ(refusalOf({declared("a", {dns}), elsewhere}), "");
}

/// Rules of one function that want the same do not hide that another one wants it, too.
TEST(SteeringTable, FunctionsMustNotWantTheSameFramesWhateverTheirOrderAndNames) {
    const std::vector<Rule> two{{.from = parsePrefix("10.0.0.0/8")},
                                {.protocol = 6, .toPort = PortRange{80, 80}}};
    const std::vector<Rule> one{{.from = parsePrefix("11.0.0.0/8")}};
    EXPECT_THAT(refusalOf({declared("a", two), declared("b", one)}), HasSubstr("want the same frames"));
    EXPECT_THAT(refusalOf({declared("a", one), declared("b", two)}), HasSubstr("want the same frames"));
}

/// Ranks of what there is for one frame, from function 1.
std::vector<unsigned> prioritiesOfSecond(const std::vector<Declaration>& all) {
    std::vector<unsigned> found;
    if (const auto table = tableOf(all))
        for (const auto& entry : table->entries)
            if (entry.rank != 0 && entry.function == 1)
                found.push_back(65535 - entry.rank);
    std::ranges::sort(found);
    return found;
}

/// What a function gives on is looked up behind its own rules: the first rule of the next one may be before.
TEST(SteeringTable, RulesBehindWhoGivesOnAreKept) {
    const auto dnsAt = [](unsigned priority) {
        auto rule = dns;
        rule.priority = priority;
        return rule;
    };
    const auto second = declared("b", {dnsAt(5), dnsAt(7), dnsAt(20), dnsAt(30), dnsAt(50)});
    auto giver = declared("a", {dnsAt(10)}), third = declared("c", {dnsAt(40)});
    EXPECT_EQ(prioritiesOfSecond({giver, second, third}), (std::vector{5U})) << "nobody gives anything on";
    giver.givesOn = true;
    EXPECT_EQ(prioritiesOfSecond({giver, second, third}), (std::vector{5U, 20U}));
    third.givesOn = true;
    EXPECT_EQ(prioritiesOfSecond({giver, second, third}), (std::vector{5U, 20U, 50U}));
    third.rules.push_back(dnsAt(60));
    EXPECT_EQ(prioritiesOfSecond({giver, second, third}), (std::vector{5U, 20U}));
}

TEST(SteeringTable, TooManyMasksAreRefused) {
    std::vector<Rule> rules;
    for (unsigned length = 0; length <= 32; length++)
        rules.push_back({.from = Prefix{4, {}, length}});
    EXPECT_THAT(refusalOf({declared("a", rules)}), HasSubstr("in 33 different ways: 32 are the most"));
    rules.pop_back();
    EXPECT_EQ(refusalOf({declared("a", rules)}), "");
}

TEST(SteeringTable, TooManyEntriesAreRefused) {
    std::vector<Rule> rules;
    for (unsigned host = 0; host < 1024; host++)
        rules.push_back(
            {.protocol = 17,
             .from = Prefix{4,
                            {10, 0, static_cast<std::uint8_t>(host >> 8U), static_cast<std::uint8_t>(host)},
                            32},
             .toPort = PortRange{1, 65534}});
    EXPECT_THAT(refusalOf({declared("a", rules)}), HasSubstr("are too many, from rule 547 of 'a' on"));
}

TEST(SteeringTable, TenThousandRulesFindTheirPlaces) {
    std::vector<Rule> rules;
    for (unsigned host = 0; host < 10000; host++)
        rules.push_back(
            {.to = Prefix{
                 4, {10, 0, static_cast<std::uint8_t>(host >> 8U), static_cast<std::uint8_t>(host)}, 32}});
    const auto table = tableOf({declared("a", rules)});
    ASSERT_TRUE(table) << table.error().sentence();
    EXPECT_EQ(std::ranges::count_if(table->entries, [](const auto& entry) { return entry.rank != 0; }),
              10000);
}

} // namespace
} // namespace tna::functions
