// SPDX-License-Identifier: Apache-2.0
// Pacing, frames, accounts and times against a device under test whose loss and delay are known, in a time
// that passes only when somebody looks at the clock.
#include "bench/measure/bisection.hpp"
#include "bench/results/histogram.hpp"
#include "bench/traffic/frame_writer.hpp"
#include "bench/traffic/pacer.hpp"
#include "bench/traffic/traffic.hpp"

#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

#include "bench/bpf/shared.h"

namespace tna::bench {
namespace {

/// Loses every nth frame, and those that come faster than it can; all others take as long.
struct FakeDevice {
    unsigned loseEvery = 0;
    std::uint64_t delay = 0;
    std::uint64_t leastGap = 0;
    std::uint64_t seen = 0;
    std::uint64_t freeAt = 0;

    std::optional<std::uint64_t> arrival(std::uint64_t now) {
        seen++;
        if ((loseEvery != 0 && seen % loseEvery == 0) || now < freeAt)
            return {};
        freeAt = now + leastGap;
        return now + delay;
    }
};

/// A generator and a sink around it, as those of the program.
struct Bench {
    FakeDevice device;
    std::uint64_t now = 1'000'000'000;
    std::uint64_t holdUpAt = 0; ///< once, the generator stands still from then on
    std::uint64_t holdUpFor = 0;
    bench::Setup setup;
    Counters counters;
    Histogram latencies;

    void run(double rate, std::uint64_t frames) {
        const FrameWriter writer{setup};
        std::vector<unsigned char> buffer(largestFrame);
        Pacer pacer{rate, now};
        pace(
            pacer, [&] { return clock(); },
            [&](std::uint64_t due) {
                const auto size = writer.write(buffer, {.number = counters.sent, .due = due});
                counters.sent++;
                if (const auto arrived = device.arrival(now))
                    take({buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(size)}, *arrived);
            },
            [&] { return counters.sent == frames; });
    }

private:
    std::uint64_t clock() {
        now++;
        if (holdUpFor != 0 && now >= holdUpAt)
            now += std::exchange(holdUpFor, 0);
        return now;
    }
    void take(const Frame& frame, std::uint64_t arrived) {
        counters.received++;
        const auto at = framesOf(setup).front().head().markAt + 8;
        std::uint64_t due = 0;
        std::memcpy(&due, frame.data() + at, sizeof(due));
        latencies.add(bucketOf(arrived - due), 1);
    }
};

TEST(BenchFakeDevice, SetLossAndDelayComeOutAsTheyWereSet) {
    for (const std::uint64_t delay : {100U, 5'000U, 1'000'000U}) {
        Bench bench{.device = {.loseEvery = 8, .delay = delay}};
        bench.run(1e6, 8000);
        EXPECT_EQ(bench.counters.lost(), 1000U);
        EXPECT_EQ(bench.latencies.total(), 7000U);
        // Every frame is within a nanosecond of when it was due, so all are in the delay's bucket.
        EXPECT_DOUBLE_EQ(bench.latencies.quantile(0), middleOfBucket(bucketOf(delay)));
        EXPECT_DOUBLE_EQ(bench.latencies.largest(), middleOfBucket(bucketOf(delay)));
        EXPECT_NEAR(bench.latencies.quantile(0.5), static_cast<double>(delay),
                    0.03 * static_cast<double>(delay));
    }
}

TEST(BenchFakeDevice, WithoutLossNothingIsLost) {
    Bench bench;
    bench.run(3e6, 5000);
    EXPECT_EQ(bench.counters.lost(), 0U);
    EXPECT_EQ(bench.counters.received, 5000U);
}

/// A generator that stands still must not hide how long frames would have waited: a thousand were due
/// meanwhile.
TEST(BenchFakeDevice, WhatAGeneratorMissesIsCountedAsLatency) {
    Bench bench{.device = {.delay = 100}, .holdUpAt = 1'002'000'000, .holdUpFor = 1'000'000};
    bench.run(1e6, 10'000);
    EXPECT_EQ(bench.counters.lost(), 0U);
    EXPECT_NEAR(bench.latencies.largest(), 1'000'100, 0.03 * 1'000'100);
    std::uint64_t late = 0;
    for (const auto& [nanoseconds, count] : bench.latencies.entries())
        late += nanoseconds > 1000 ? count : 0;
    // Sent one by one as fast as the clock ticks, each one a microsecond less late than the one before.
    EXPECT_NEAR(static_cast<double>(late), 1000, 10);
}

TEST(BenchFakeDevice, BisectionFindsWhatItCanWithFramesThatAreReallyPaced) {
    const std::uint64_t gap = 400; // 2.5 Mpps
    const auto found =
        findNoLossRate({.most = 5e6, .tolerance = 0.001, .resolution = 0.01}, [&](double rate) {
            Bench bench{.device = {.delay = 50, .leastGap = gap}};
            bench.run(rate, 3000);
            return Result<Trial>{Trial{rate, rate, bench.counters.sent, bench.counters.lost()}};
        });
    ASSERT_TRUE(found);
    EXPECT_NEAR(found->rate, 2.5e6, 0.02 * 2.5e6);
}

TEST(BenchPacer, GapsDoNotAddUpToAnother) {
    Pacer pacer{3e6, 1000}; // 333 ns and a third
    for (int frame = 0; frame < 3'000'000; frame++)
        pacer.advance();
    EXPECT_EQ(pacer.due(), 1'000'001'000U);
    Pacer slow{0.5, 0};
    slow.advance();
    EXPECT_EQ(slow.due(), 2'000'000'000U);
}

TEST(BenchFrameWriter, WritesTheFramesThatAreExpected) {
    for (const auto scenario :
         {Scenario::bridge, Scenario::router, Scenario::router6, Scenario::bridges, Scenario::firewall,
          Scenario::firewall6, Scenario::nat, Scenario::nat6, Scenario::forward, Scenario::forward6})
        for (const auto protocol : {Protocol::udp, Protocol::tcp})
            for (const unsigned size : {100U, imix}) {
                if (size == imix && (protocol == Protocol::tcp || (filters(scenario) && usesIpv6(scenario))))
                    continue; // marks do not fit into the smallest
                const bench::Setup setup{
                    .scenario = scenario, .flows = 70'000, .frameSize = size, .protocol = protocol};
                const FrameWriter writer{setup};
                const auto frames = framesOf(setup);
                for (const unsigned flow : {0U, 1U, 69'999U})
                    for (std::uint64_t number = 0; number < 12; number++) {
                        const auto& one = frames[sizeIndexOf(number, frames.size())];
                        Frame buffer(largestFrame);
                        buffer.resize(writer.write(buffer, {.flow = flow, .cpu = 3, .number = number}));
                        EXPECT_EQ(buffer, one.sent(flow, SEQUENCE(3, number)));
                    }
                Frame buffer(largestFrame);
                buffer.resize(writer.write(buffer, {.flow = 5, .back = true}));
                EXPECT_EQ(buffer, frames.front().back(5));
            }
}

} // namespace
} // namespace tna::bench
