// SPDX-License-Identifier: Apache-2.0
#include "bench/change.hpp"

#include "support/namespace.hpp"
#include "unwatched.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

TEST(BenchChange, EachChangeIsSeenAndNoFrameIsTreatedTheOldWayAfterwards) {
    if (const auto why = test::cannotUseNamespaces(); !why.empty())
        GTEST_SKIP() << why;
    const ChangeOptions options{.contenders = {"linux", "tna"}, .changes = 3, .rate = 20'000, .tnad = TNAD};
    Unwatched watcher;
    const auto all = measureChanges(options, watcher);
    ASSERT_TRUE(all) << all.error().sentence();
    ASSERT_THAT(*all, SizeIs(4));
    for (const auto& series : *all) {
        EXPECT_EQ(series.notMeasured, "") << series.contender << ", " << series.change;
        EXPECT_THAT(series.closed, SizeIs(options.changes));
        EXPECT_THAT(series.opened, SizeIs(options.changes));
        // Linux does as it is told at once; so does what reads in place.
        if (series.contender == "linux") {
            EXPECT_THAT(series.closed, Each(0)) << series.change;
        }
    }
}

TEST(BenchChange, TimeIsFromTheReturnOfTheCall) {
    EXPECT_DOUBLE_EQ(secondsAfter(1'000, 501'000), 0.0005);
    EXPECT_DOUBLE_EQ(secondsAfter(501'000, 1'000), 0);
    EXPECT_DOUBLE_EQ(secondsAfter(5, 5), 0);
}

} // namespace
} // namespace tna::bench
