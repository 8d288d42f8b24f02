// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/far_side.hpp"
#include "bench/functions/study.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace tna::bench {
namespace {

TEST(FunctionsStudy, AddressesAreSwappedAndNothingElse) {
    std::vector<unsigned char> frame(swappedSize);
    std::iota(frame.begin(), frame.end(), static_cast<unsigned char>(0));
    auto expected = frame;
    for (unsigned char i = 0; i < 6; i++) {
        expected.at(i) = static_cast<unsigned char>(i + 6);
        expected.at(i + 6U) = i;
    }
    EXPECT_EQ(swapped(frame), expected);
    EXPECT_EQ(swapped({1, 2, 3}), (std::vector<unsigned char>{1, 2, 3}));
}

TEST(FunctionsStudy, TimesOfProcessorsAreReadFromTheirFirstLine) {
    const auto times = cpuTimesOf("cpu  100 20 300 4000 50 6 700 8 9 10\ncpu0 1 2 3 4 5 6 7 8 9 10\n", 100);
    EXPECT_DOUBLE_EQ(times.user, 1.2);
    EXPECT_DOUBLE_EQ(times.system, 3);
    EXPECT_DOUBLE_EQ(times.softirq, 7.06);
}

TEST(FunctionsStudy, DeviationIsThatOfASample) {
    const auto [mean, deviation] = meanAndDeviation({2, 4, 4, 4, 5, 5, 7, 9});
    EXPECT_DOUBLE_EQ(mean, 5);
    EXPECT_NEAR(deviation, 2.138, 0.001);
    EXPECT_EQ(meanAndDeviation({3}).deviation, 0);
    EXPECT_EQ(meanAndDeviation({}).mean, 0);
}

TEST(FunctionsStudy, PlansTheTimeOfAllContestants) {
    EXPECT_NEAR(secondsOf({.rounds = 10, .seconds = 1}), 44, 0.01);
}

TEST(FunctionsStudy, WhatIsMissingIsSaid) {
    const auto text = renderFunctions({}, {});
    for (const auto& missing : missingFromFunctions())
        EXPECT_NE(text.find(missing), std::string::npos) << missing;
}

} // namespace
} // namespace tna::bench
