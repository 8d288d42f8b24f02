// SPDX-License-Identifier: Apache-2.0
// The search of RFC 2544 against devices whose throughput is known.
#include "bench/measure/bisection.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

/// Forwards up to a rate, and loses a part of what it forwards; its generator has a limit of its own.
struct FakeDevice {
    double capacity = 1e9;
    double loss = 0;
    double generator = 1e9;
    unsigned trials = 0;

    Result<Trial> operator()(double rate) {
        trials++;
        const double offered = std::min(rate, generator);
        const double arrived = std::min(offered, capacity) * (1 - loss);
        return Trial{rate, offered, static_cast<std::uint64_t>(offered),
                     static_cast<std::uint64_t>(std::llround(offered - arrived))};
    }
};

NoLossRate find(FakeDevice& device, const Search& search) {
    auto found = findNoLossRate(search, [&](double rate) { return device(rate); });
    EXPECT_TRUE(found);
    return found.value_or(NoLossRate{});
}

TEST(BenchBisection, FindsTheCapacityWithinTheResolution) {
    for (const double capacity : {100'000.0, 1'234'567.0, 2'999'999.0}) {
        FakeDevice device{.capacity = capacity};
        const auto found = find(device, {.most = 3e6, .tolerance = 0, .resolution = 0.01, .attempts = 1});
        EXPECT_LE(found.rate, capacity);
        EXPECT_GE(found.rate, capacity * 0.98) << capacity;
        EXPECT_FALSE(found.throttled);
        EXPECT_EQ(found.trials.size(), device.trials);
        EXPECT_LE(device.trials, 15U);
    }
}

TEST(BenchBisection, AsMuchMayBeLostAsIsTolerated) {
    FakeDevice device{.capacity = 1e6};
    // A tenth of what is offered is lost at a ninth more than the capacity.
    const auto found = find(device, {.most = 3e6, .tolerance = 0.1, .resolution = 0.001, .attempts = 1});
    EXPECT_NEAR(found.rate, 1e6 / 0.9, 2000);
    EXPECT_LE(found.trials.back().loss(), 0.11);
}

TEST(BenchBisection, DeviceThatLosesAtEveryRateHasNone) {
    FakeDevice device{.loss = 0.05};
    EXPECT_EQ(find(device, {.most = 1e6, .tolerance = 0.01}).rate, 0);
    FakeDevice tolerated{.loss = 0.05};
    EXPECT_EQ(find(tolerated, {.most = 1e6, .tolerance = 0.06}).rate, 1e6);
    EXPECT_EQ(tolerated.trials, 1U);
}

TEST(BenchBisection, WhatThrottlesTheGeneratorIsFoundAtOnceAndTold) {
    FakeDevice device{.generator = 700'000};
    const auto found = find(device, {.most = 1e6});
    EXPECT_EQ(found.rate, 700'000);
    EXPECT_TRUE(found.throttled);
    EXPECT_EQ(device.trials, 1U);
}

TEST(BenchBisection, OneBadTrialIsNotBelieved) {
    unsigned number = 0;
    const auto disturbed = [&](double rate) -> Result<Trial> {
        return Trial{rate, rate, 1000, number++ == 0 ? 500U : 0U};
    };
    const auto found = findNoLossRate({.most = 1e6, .attempts = 2}, disturbed);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->rate, 1e6);
    EXPECT_EQ(found->trials.size(), 2U);
    EXPECT_DOUBLE_EQ(found->trials[0].loss(), 0.5);
}

TEST(BenchBisection, FailureOfATrialEndsIt) {
    const auto found = findNoLossRate({.most = 1e6}, [](double) -> Result<Trial> { return fail("no way"); });
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().what, "no way");
}

} // namespace
} // namespace tna::bench
