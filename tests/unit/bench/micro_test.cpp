// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/micro.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<MicroRow> rows() {
    return {{"empty", "nothing", 2, 2, 10, {10, 12, 11}, {}},
            {"bridge", "bridge", 300, 0, 2000, {60, 64, 62}, {}},
            {"route", "route, IPv4", 500, 900, 4000, {}, "it leaves the frame to Linux"},
            {"route", "route, IPv6", 520, 900, 4000, {}, {}},
            {"-", "guard: capture", 4, 5, 50, {0.5, 0.7, 0.6}, {}, true}};
}

TEST(BenchMicro, CostIsWhatTheEmptyProgramDoesNotCost) {
    const auto document = microDocument({}, nlohmann::json::object(), rows());
    EXPECT_DOUBLE_EQ(document["rows"][1]["over_empty_ns"]["median"], 51);
    EXPECT_TRUE(document["rows"][2]["ns"].is_null());
    EXPECT_DOUBLE_EQ(document["rows"][4]["over_empty_ns"]["median"], 0.6) << "already one look by itself";
    EXPECT_THAT(renderMicro(rows()), HasSubstr("it leaves the frame to Linux"));
}

TEST(BenchMicro, BudgetsAreWrittenAndReadAndKept) {
    const auto budgets = parseBudgets(budgetsText(rows()));
    ASSERT_TRUE(budgets);
    EXPECT_EQ(*budgets,
              (Budgets{{"bridge", {300, 0, 2000}}, {"empty", {2, 2, 10}}, {"route", {520, 900, 4000}}}));
    EXPECT_THAT(overBudget(rows(), *budgets), IsEmpty());
}

TEST(BenchMicro, WhatHasGrownIsNamed) {
    auto grown = rows();
    grown[1].instructions = 315;
    const Budgets budgets{{"empty", {2, 0, 0}}, {"bridge", {300, 1000, 2000}}};
    EXPECT_THAT(overBudget({grown[0], grown[1]}, budgets), IsEmpty()) << "as kernels differ";
    grown[1].instructions = 316;
    EXPECT_THAT(overBudget({grown[0], grown[1]}, budgets),
                ElementsAre("bridge has 316 instructions, its budget is 300"));
    grown[1].instructions = 300;
    grown[1].verified = 1500;
    grown[1].jitedBytes = 2564;
    EXPECT_THAT(overBudget({grown[1]}, budgets), IsEmpty()) << "as kernels and processors differ";
    grown[1].verified = 1501;
    grown[1].jitedBytes = 2565;
    EXPECT_THAT(overBudget({grown[1]}, budgets),
                ElementsAre("bridge has 1501 instructions to verify, its budget is 1000",
                            "bridge has 2565 bytes of machine code, its budget is 2000"));
    EXPECT_THAT(overBudget({grown[2]}, budgets), ElementsAre(HasSubstr("route has no budget")));
}

TEST(BenchMicro, LineThatIsNoBudgetIsNamed) {
    EXPECT_THAT(parseBudgets("# a\n\nbridge 3 4 5\nbridge x\n").error().what,
                HasSubstr("'bridge x' is no line"));
    EXPECT_FALSE(parseBudgets("bridge 3 4\n"));
    EXPECT_FALSE(parseBudgets("bridge 3 4 5 6\n"));
}

} // namespace
} // namespace tna::bench
