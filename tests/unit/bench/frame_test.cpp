// SPDX-License-Identifier: Apache-2.0
#include "bench/frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;

TEST(BenchFrame, IsWholeWithAChecksumThatAddsUp) {
    const auto frame = frameOfFlow(0x0123, 64);
    ASSERT_EQ(frame.size(), 64U);
    const std::vector<unsigned char> start{2, 0,    0,    0, 0x01, 0x23, 2, 1, 0,
                                           0, 0x01, 0x23, 8, 0,    0x45, 0, 0, 50};
    EXPECT_TRUE(std::equal(start.begin(), start.end(), frame.begin()));
    unsigned sum = 0;
    for (std::size_t at = 14; at < 34; at += 2)
        sum += frame[at] << 8U | frame[at + 1];
    EXPECT_EQ((sum & 0xffffU) + (sum >> 16U), 0xffffU);
}

TEST(BenchFrame, NothingDiffersWhenEveryFlowArrivesInAnyOrder) {
    EXPECT_EQ(differences({frameOfFlow(1, 100), frameOfFlow(2, 100), frameOfFlow(0, 100)}, 3, 100), "");
}

TEST(BenchFrame, EveryDifferenceIsFound) {
    for (std::size_t at = 0; at < 64; at++) {
        auto frame = frameOfFlow(0, 64);
        frame[at] ^= 0x80U;
        EXPECT_NE(differences({frame}, 1, 64), "") << "byte " << at;
    }
    auto changed = frameOfFlow(0, 64);
    changed[22]--; // a hop
    EXPECT_THAT(differences({changed}, 1, 64), HasSubstr("byte 22 of a frame changed from 40 to 3f"));
    EXPECT_THAT(differences({frameOfFlow(0, 65)}, 1, 64), HasSubstr("64 bytes arrived with 65"));
    EXPECT_THAT(differences({frameOfFlow(0, 64)}, 2, 64), HasSubstr("1 of 2 frames arrived"));
    EXPECT_THAT(differences({frameOfFlow(0, 64), frameOfFlow(0, 64)}, 2, 64), HasSubstr("twice"));
    EXPECT_THAT(differences({frameOfFlow(7, 64)}, 1, 64), HasSubstr("not sent"));
}

} // namespace
} // namespace tna::bench
