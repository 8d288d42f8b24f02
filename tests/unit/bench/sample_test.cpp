// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sample.hpp"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <unistd.h>

namespace tna::bench {
namespace {

TEST(BenchSample, StolenTimeIsOneColumnOfTheFirstLine) {
    const auto time = processorTimeOf("cpu  100 20 30 400 5 6 7 80 9 10\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
    EXPECT_EQ(time.all, 648U); // guests are in what users have
    EXPECT_EQ(time.stolen, 80U);
    EXPECT_EQ(processorTimeOf("").all, 0U);
    EXPECT_FALSE(Sample{}.disturbed());
    EXPECT_TRUE(Sample{.stolen = 0.1}.disturbed());
}

/// What every kernel counts in the place of what not every machine has.
TEST(BenchHardware, CountersOfThreadsAreAdded) {
    const PerfEvents events{{{PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
                             {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY},
                             {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK}}};
    const auto counters = HardwareCounters::open({0}, events);
    if (!counters)
        GTEST_SKIP() << counters.error().sentence();
    const auto before = counters->read();
    volatile int counted = 0;
    while (counted < 1'000'000)
        counted = counted + 1;
    const auto passed = counters->read().since(before);
    EXPECT_GT(passed.cycles, 0U);
    EXPECT_EQ(passed.instructions, 0U);
    EXPECT_GT(passed.cacheMisses, 0U);
    const auto threads = threadsOf({::getpid()});
    EXPECT_EQ(std::count(threads.begin(), threads.end(), ::gettid()), 1);
}

} // namespace
} // namespace tna::bench
