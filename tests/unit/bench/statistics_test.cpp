// SPDX-License-Identifier: Apache-2.0
#include "bench/results/statistics.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

TEST(Statistics, QuantilesOfKnownValues) {
    const auto summary = summarise({4, 1, 3, 2, 5});
    EXPECT_DOUBLE_EQ(summary.median, 3);
    EXPECT_DOUBLE_EQ(summary.lowerQuartile, 2);
    EXPECT_DOUBLE_EQ(summary.upperQuartile, 4);
    EXPECT_DOUBLE_EQ(summary.least, 1);
    EXPECT_DOUBLE_EQ(summary.most, 5);
    EXPECT_DOUBLE_EQ(summarise({1, 2}).median, 1.5);
}

TEST(Statistics, NothingMeasuredIsZero) {
    EXPECT_DOUBLE_EQ(summarise({}).median, 0);
    EXPECT_DOUBLE_EQ(quantileOf({}, 0.99), 0);
}

TEST(Statistics, HighQuantileIsNearTheMostAndDoesNotDependOnOrder) {
    std::vector<double> values;
    for (int i = 101; i > 0; i--)
        values.push_back(i);
    EXPECT_DOUBLE_EQ(quantileOf(values, 0.99), 100);
    EXPECT_DOUBLE_EQ(quantileOf(values, 0.5), 51);
    EXPECT_DOUBLE_EQ(quantileOf(values, 1), 101);
}

TEST(Statistics, RatiosAreTakenRoundByRound) {
    EXPECT_THAT(ratios({2, 9, 5}, {1, 3, 0}), ::testing::ElementsAre(2, 3));
    EXPECT_THAT(ratios({2, 9}, {1}), ::testing::ElementsAre(2));
}

} // namespace
} // namespace tna::bench
