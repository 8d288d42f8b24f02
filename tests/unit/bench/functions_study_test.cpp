// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/processors.hpp"
#include "bench/functions/study.hpp"

#include <algorithm>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;
using workload::Work;

TEST(FunctionsStudy, TimesOfProcessorsAreThoseOfTheirLines) {
    const std::string stat = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 100 20 300 4000 50 6 700 8 9 10\n"
                             "cpu1 1 2 4 8 16 32 64 0 0 0\ncpu10 5000 0 0 0 0 0 0 0 0 0\nintr 1 2 3\n";
    const auto first = cpuTimesOf(stat, {0}, 100);
    EXPECT_DOUBLE_EQ(first.user, 1.2);
    EXPECT_DOUBLE_EQ(first.system, 3);
    EXPECT_DOUBLE_EQ(first.softirq, 7.06);
    const auto both = cpuTimesOf(stat, {0, 1}, 100);
    EXPECT_DOUBLE_EQ(both.user, 1.23);
    EXPECT_DOUBLE_EQ(both.system, 3.04);
    EXPECT_DOUBLE_EQ(both.softirq, 8.02);
}

TEST(FunctionsStudy, EachWorkloadHasTheClassesThatItMakesSenseIn) {
    FunctionsOptions options;
    options.checksums = {1, 2};
    options.lines = {16};
    options.rules = {100};
    options.shares = {0, 50};
    std::vector<std::string> seen;
    for (const auto& one : functionsCases(options))
        seen.push_back(fmt::format("{} {} {}", nameOf(one.work), nameOf(one.which), one.size));
    EXPECT_THAT(seen,
                ::testing::ElementsAre("macswap dropped 0", "macswap returned 0", "macswap local 0",
                                       "checksum dropped 1", "checksum dropped 2", "checksum returned 1",
                                       "checksum returned 2", "lookup dropped 16", "lookup returned 16",
                                       "firewall dropped 100", "chain returned 0", "chain returned 50"));
}

TEST(FunctionsStudy, OnlyWhatIsAskedForIsACase) {
    FunctionsOptions options;
    options.workloads = {"macswap", "chain"};
    options.classes = {"returned"};
    options.shares = {10};
    options.cpus = {1, 2};
    const auto cases = functionsCases(options);
    EXPECT_EQ(cases, (std::vector<FunctionsCase>{{Work::macswap, Class::returned, 0, 1},
                                                 {Work::chain, Class::returned, 10, 1},
                                                 {Work::macswap, Class::returned, 0, 2},
                                                 {Work::chain, Class::returned, 10, 2}}));
}

TEST(FunctionsStudy, FramesAreFromSourcesThatTheWorkKnows) {
    const auto firewall = sourcesOf({Work::firewall, Class::dropped, 500});
    EXPECT_EQ(firewall.blocked, 500U);
    EXPECT_EQ(firewall.blockedPart, 1);
    EXPECT_EQ(settingsOf({Work::firewall, Class::dropped, 500}).entries, 500U);
    const FunctionsCase chain{Work::chain, Class::returned, 25};
    EXPECT_EQ(sourcesOf(chain).blocked, settingsOf(chain).entries);
    EXPECT_EQ(sourcesOf(chain).sessions, settingsOf(chain).sessions);
    EXPECT_DOUBLE_EQ(sourcesOf(chain).blockedPart, 0.25);
    EXPECT_EQ(settingsOf({Work::checksum, Class::returned, 7}).times, 7U);
}

TEST(FunctionsStudy, PlanHasAReasonForEachThatIsNotMeasured) {
    const FunctionsOptions options;
    const auto plan = planFunctions(options);
    EXPECT_EQ(plan.series.size(), functionsCases(options).size() * contestantKinds().size());
    for (const auto& one : plan.series) {
        const auto& name = contestantKinds().at(one.contestant).name;
        if (name == "poll" || name == "busy" || name == "xdp" || name == "xdp-sk") {
            EXPECT_EQ(one.notMeasured, "") << name;
        }
        if (name == "hybrid") {
            EXPECT_EQ(one.notMeasured.empty(), one.one.work == Work::chain);
        }
        if (name == "dpdk") {
            EXPECT_EQ(one.notMeasured.empty(),
                      one.one.work == Work::macswap && one.one.which == Class::returned);
        }
    }
    EXPECT_LT(plan.measured(), plan.series.size());
    EXPECT_GT(plan.measured(), 0U);
}

TEST(FunctionsStudy, PlansTheTimeOfAllThatIsMeasured) {
    FunctionsOptions options{.workloads = {"macswap"}, .contestants = {"poll", "dpdk"}, .rates = {"full"}};
    options.rounds = 4;
    options.seconds = 1;
    const auto plan = planFunctions(options);
    EXPECT_EQ(plan.measured(), 4U); // poll in three classes, dpdk in one
    EXPECT_NEAR(plan.seconds(), 4 * 4 * 2.1, 0.01);
    const double full = plan.seconds();
    options.rates.emplace_back("rfc2544");
    EXPECT_GT(planFunctions(options).seconds(), full);
}

TEST(FunctionsStudy, WhatIsLeftOutIsSaidBeforeAndInTheResult) {
    const auto text = describe(planFunctions({}), {});
    const auto document = functionsDocument({}, {}, {.plan = planFunctions({})});
    EXPECT_EQ(document["missing"].size(), leftOut().size());
    for (const auto& [setting, reason] : leftOut()) {
        EXPECT_THAT(text, HasSubstr(setting));
        EXPECT_THAT(text, HasSubstr(reason));
    }
}

} // namespace
} // namespace tna::bench
