// SPDX-License-Identifier: Apache-2.0
// Whether the benchmark measures what it says; never how fast anything is.
#include "bench/throughput.hpp"
#include "support/command.hpp"
#include "support/namespace.hpp"

#include <gtest/gtest.h>

namespace tna::bench {
namespace {

TEST(Throughput, EveryContenderForwardsWholeFramesAndNothingIsLeftBehind) {
    if (const auto why = test::cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    const ThroughputOptions options{{"linux", "tna", "ceiling"}, {3}, {1}, 64, 1, 0.5};
    const auto all = measureThroughput(options, [](const auto&, unsigned, unsigned) {}, [] { return false; });
    ASSERT_TRUE(all) << all.error().sentence();
    ASSERT_EQ(all->size(), 3U);
    for (const auto& series : *all) {
        EXPECT_EQ(series.notMeasured, "") << series.contender;
        for (const auto& sample : series.rounds) {
            EXPECT_GT(sample.received, 0U) << series.contender;
            EXPECT_EQ(sample.wrong, 0U) << series.contender;
        }
    }
    const auto mine = "tnab-" + std::to_string(::getpid()) + "-";
    EXPECT_EQ(test::command({"ip", "netns", "list"}).output.find(mine), std::string::npos);
}

} // namespace
} // namespace tna::bench
