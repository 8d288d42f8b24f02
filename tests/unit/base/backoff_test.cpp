// SPDX-License-Identifier: Apache-2.0
#include "base/backoff.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace tna {
namespace {

using std::chrono::seconds;

TEST(Backoff, TriesEverMoreRarelyAndNeverGivesUp) {
    const Backoff::Time begin;
    Backoff retry;
    retry.reset(begin);
    std::vector<int> tried;
    for (int second = 0; second < 300; second++)
        if (retry.isDue(begin + seconds(second)))
            tried.push_back(second);
    EXPECT_EQ(tried, (std::vector{1, 3, 7, 15, 31, 63, 127, 191, 255}));
}

TEST(Backoff, BeginsAnewAfterASuccess) {
    const Backoff::Time begin;
    Backoff retry;
    retry.reset(begin);
    EXPECT_TRUE(retry.isDue(begin + seconds(100)));
    EXPECT_TRUE(retry.isDue(begin + seconds(200)));
    retry.reset(begin + seconds(300));
    EXPECT_FALSE(retry.isDue(begin + seconds(300)));
    EXPECT_TRUE(retry.isDue(begin + seconds(301)));
}

} // namespace
} // namespace tna
