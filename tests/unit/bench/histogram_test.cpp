// SPDX-License-Identifier: Apache-2.0
#include "bench/results/histogram.hpp"

#include <gtest/gtest.h>

namespace tna::bench {
namespace {

TEST(Histogram, BucketsGrowWithoutGapsAndAreWithinThreePerCent) {
    EXPECT_DOUBLE_EQ(middleOfBucket(0), 0);
    EXPECT_DOUBLE_EQ(middleOfBucket(63), 63);
    EXPECT_DOUBLE_EQ(middleOfBucket(64), 64.5);  // 64 and 65
    EXPECT_DOUBLE_EQ(middleOfBucket(95), 126.5); // 126 and 127
    EXPECT_DOUBLE_EQ(middleOfBucket(96), 129.5); // 128 to 131
    for (std::size_t bucket = 64; bucket < 1151; bucket++) {
        const double step = middleOfBucket(bucket + 1) - middleOfBucket(bucket);
        EXPECT_GT(step, 0);
        EXPECT_LT(step, 0.033 * middleOfBucket(bucket)) << bucket;
    }
}

TEST(Histogram, EachTimeIsInTheBucketAroundIt) {
    for (std::uint64_t time = 0; time < 100'000; time += 7) {
        const auto middle = middleOfBucket(bucketOf(time));
        EXPECT_NEAR(middle, static_cast<double>(time), 0.016 * static_cast<double>(time) + 0.5) << time;
    }
}

TEST(Histogram, QuantilesCountHowOftenNotHowMuch) {
    Histogram histogram;
    histogram.add(10, 899);
    histogram.add(20, 100);
    histogram.add(60, 1);
    EXPECT_EQ(histogram.total(), 1000U);
    EXPECT_DOUBLE_EQ(histogram.quantile(0.5), 10);
    EXPECT_DOUBLE_EQ(histogram.quantile(0.899), 10);
    EXPECT_DOUBLE_EQ(histogram.quantile(0.9), 20);
    EXPECT_DOUBLE_EQ(histogram.quantile(0.999), 20);
    EXPECT_DOUBLE_EQ(histogram.largest(), 60);
    EXPECT_DOUBLE_EQ(histogram.mean(), (10 * 899 + 20 * 100 + 60) / 1000.0);
    const std::vector<std::pair<double, std::uint64_t>> all{{10, 899}, {20, 100}, {60, 1}};
    EXPECT_EQ(histogram.entries(), all);
}

TEST(Histogram, SumsRoundsAndIsZeroWithoutAny) {
    Histogram all;
    EXPECT_DOUBLE_EQ(all.quantile(0.5), 0);
    EXPECT_DOUBLE_EQ(all.mean(), 0);
    Histogram one;
    one.add(7, 3);
    all.add(one);
    all.add(one);
    EXPECT_EQ(all.total(), 6U);
    EXPECT_DOUBLE_EQ(all.quantile(0), 7);
}

} // namespace
} // namespace tna::bench
