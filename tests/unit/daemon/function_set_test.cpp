// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_set.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::daemon {
namespace {

using functions::Declaration;
using ::testing::HasSubstr;

Declaration onPort(const std::string& name, const std::string& port, std::size_t rules = 1) {
    return {.name = name, .ports = {port}, .rules = std::vector<functions::Rule>(rules)};
}

TEST(FunctionSet, RulesKeepTheirCountersWhileTheyAreThere) {
    FunctionSet set;
    ASSERT_TRUE(set.put(onPort("a", "p0", 3), false));
    ASSERT_TRUE(set.put(onPort("b", "p1", 2), false));
    EXPECT_EQ(set.find("a")->ruleNumbers, (std::vector<unsigned>{0, 1, 2}));
    EXPECT_EQ(set.find("b")->ruleNumbers, (std::vector<unsigned>{3, 4}));
    set.remove("a");
    auto again = onPort("b", "p1", 2);
    again.frames = 64;
    ASSERT_TRUE(set.put(again, true));
    EXPECT_EQ(set.find("b")->ruleNumbers, (std::vector<unsigned>{3, 4})) << "they are the same rules";
    EXPECT_EQ(set.find("b")->number, 1U);
    ASSERT_TRUE(set.put(onPort("c", "p0", 4), false));
    EXPECT_EQ(set.find("c")->ruleNumbers, (std::vector<unsigned>{0, 1, 2, 5}));
    EXPECT_EQ(set.find("c")->number, 0U);
    EXPECT_EQ(set.ports(), (std::vector<std::string>{"p0", "p1"}));
}

TEST(FunctionSet, AQueueIsOneFunctions) {
    FunctionSet set;
    ASSERT_TRUE(set.put(onPort("a", "p0"), false));
    const auto refused = set.put(onPort("b", "p0"), false);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().sentence(), HasSubstr("queue 0 of p0 is the network function 'a''s"));
    auto other = onPort("b", "p0");
    other.queues = {1};
    EXPECT_TRUE(set.put(other, false));
    EXPECT_TRUE(set.put(onPort("a", "p0"), false)) << "itself is no obstacle";
}

TEST(FunctionSet, ThereIsNoRoomForMoreThanSoMany) {
    FunctionSet set;
    for (unsigned i = 0; i < TNA_STEER_FUNCTIONS; i++)
        ASSERT_TRUE(set.put(onPort("f" + std::to_string(i), "p" + std::to_string(i)), false));
    EXPECT_THAT(set.put(onPort("x", "px"), false).error().sentence(),
                HasSubstr("64 network functions already"));
    FunctionSet full;
    ASSERT_TRUE(full.put(onPort("a", "p0", TNA_STEER_RULES), false));
    EXPECT_THAT(full.put(onPort("b", "p1"), false).error().sentence(), HasSubstr("'b' has too many rules"));
    EXPECT_EQ(full.find("b"), nullptr);
}

/// New rules have places that nobody has had, as far as there are any.
TEST(FunctionSet, AsManyRulesAsThereAreCanBeReplaced) {
    const auto with = [](std::size_t rules, unsigned priority) {
        auto declared = onPort("a", "p0", rules);
        declared.rules.front().priority = priority;
        return declared;
    };
    FunctionSet set;
    ASSERT_TRUE(set.put(onPort("other", "p1", 2), false));
    ASSERT_TRUE(set.put(with(TNA_STEER_RULES - 5, 1), false));
    ASSERT_TRUE(set.put(with(4, 2), false));
    EXPECT_EQ(set.find("a")->ruleNumbers,
              (std::vector<unsigned>{TNA_STEER_RULES - 3, TNA_STEER_RULES - 2, TNA_STEER_RULES - 1, 2}));
    ASSERT_TRUE(set.put(with(TNA_STEER_RULES - 2, 3), false));
    ASSERT_TRUE(set.put(with(TNA_STEER_RULES - 2, 4), false));
    auto numbers = set.find("a")->ruleNumbers;
    std::ranges::sort(numbers);
    EXPECT_EQ(numbers.size(), TNA_STEER_RULES - 2);
    EXPECT_EQ(numbers.front(), 2U) << "what is another function's stays that";
    EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
    EXPECT_FALSE(set.put(with(TNA_STEER_RULES - 1, 5), false));
}

TEST(FunctionSet, OneThatIsBypassedStaysSo) {
    FunctionSet set;
    ASSERT_TRUE(set.put(onPort("a", "p0"), false));
    set.find("a")->bypassed = true;
    ASSERT_TRUE(set.put(onPort("a", "p1"), false));
    EXPECT_TRUE(set.find("a")->bypassed);
}

} // namespace
} // namespace tna::daemon
