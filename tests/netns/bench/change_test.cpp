// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/change.hpp"

#include "support/namespace.hpp"
#include "unwatched.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

/// Whether the fast path sees what Linux was told as soon as Linux does; on older kernels it is told, too.
bool readsInPlace() {
    unsigned major = 0, minor = 0;
    char dot = 0;
    std::ifstream("/proc/sys/kernel/osrelease") >> major >> dot >> minor;
    return std::pair(major, minor) >= std::pair(6U, 2U);
}

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
        if (series.contender == "linux" || readsInPlace()) {
            EXPECT_THAT(series.closed, Each(0)) << series.contender << ", " << series.change;
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
