// SPDX-License-Identifier: Apache-2.0
// What is a difference, and what is not.
#include "diff/compare.hpp"
#include "diff/random/writer.hpp"
#include "diff/statistics.hpp"
#include "diff/unasked.hpp"

#include <gtest/gtest.h>

namespace tna::diff {
namespace {

Frame segment(unsigned port, unsigned number) {
    return Writer(station(1), station(2))
        .packet(Header4{.from = address4(0, 1), .to = address4(0, 2)}, udp(port, 80, 20, number))
        .done();
}

Seen seen(std::vector<Frame> frames) {
    return {{{"p1", std::move(frames)}}, {}};
}

TEST(Comparison, SameFramesAreNoDifference) {
    unsigned reordered = 0;
    EXPECT_FALSE(
        compare(seen({segment(1, 1), segment(1, 2)}), seen({segment(1, 1), segment(1, 2)}), reordered));
    EXPECT_EQ(reordered, 0U);
}

TEST(Comparison, OrderMattersWithinAFlowOnly) {
    unsigned reordered = 0;
    EXPECT_FALSE(
        compare(seen({segment(1, 1), segment(2, 1)}), seen({segment(2, 1), segment(1, 1)}), reordered));
    EXPECT_EQ(reordered, 1U);
    const auto found =
        compare(seen({segment(1, 1), segment(1, 2)}), seen({segment(1, 2), segment(1, 1)}), reordered);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->where, "p1");
}

TEST(Comparison, EachByteMatters) {
    unsigned reordered = 0;
    const auto frame = segment(1, 1);
    for (std::size_t i = 0; i < frame.size(); i++) {
        auto other = frame;
        other[i] ^= 1U;
        EXPECT_TRUE(compare(seen({frame}), seen({other}), reordered)) << i;
    }
}

TEST(Comparison, MissingAndAdditionalFramesAreDifferences) {
    unsigned reordered = 0;
    const auto frame = segment(1, 1);
    EXPECT_TRUE(compare(seen({frame}), {}, reordered));
    EXPECT_TRUE(compare({}, seen({frame}), reordered));
    EXPECT_TRUE(compare(seen({frame}), seen({frame, frame}), reordered));
    EXPECT_TRUE(compare({{{"p1", {frame}}}, {}}, {{{"p2", {frame}}}, {}}, reordered));
    EXPECT_TRUE(compare({{}, {"heard"}}, {}, reordered));
}

TEST(Comparison, WhatAHostSaysUnaskedIsItsOwn) {
    const auto question = Writer({255, 255, 255, 255, 255, 255}, station(0xff10))
                              .type(0x0806)
                              .bytes({0, 1, 8, 0, 6, 4, 0, 1})
                              .filling(38)
                              .done();
    EXPECT_TRUE(comesUnasked(question, {station(0xff10)}));
    EXPECT_FALSE(comesUnasked(question, {station(0xff11)})); // somebody else's
    EXPECT_FALSE(comesUnasked(segment(1, 1), {station(2)}));
}

TEST(Comparison, CountersOfTheHostItselfAreCompared) {
    EXPECT_EQ(ownCounters("Ip: Forwarding InReceives InDelivers\nIp: 1 77 5\nTcp: InErrs\nTcp: 2\n"),
              "IpForwarding 1\nIpInDelivers 5\nTcpInErrs 2\n");
    EXPECT_EQ(ownCounters("Ip6InReceives 7\nIp6InHdrErrors 3\n"), "Ip6InHdrErrors 3\n");
}

} // namespace
} // namespace tna::diff
