// SPDX-License-Identifier: Apache-2.0
#include "functions/workload/packet.hpp"

#include "packets.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <random>

namespace tna::workload::test {
namespace {

TEST(WorkloadPackets, FlowIsThatOfItsHeaders) {
    const auto flow = sessionFlow(77);
    EXPECT_EQ(flowOf(packetOf(flow)), flow);
    auto tcp = flow;
    tcp.protocol = IPPROTO_TCP;
    EXPECT_EQ(flowOf(packetOf(tcp)), tcp);
}

TEST(WorkloadPackets, WhatIsNotWholeOrPlainHasNoFlow) {
    const auto good = packetOf(blockedFlow(1));
    const auto with = [&](std::size_t at, unsigned char value) {
        auto frame = good;
        frame.at(at) = value;
        return flowOf(frame).has_value();
    };
    EXPECT_FALSE(with(12, 0x86));    // another EtherType
    EXPECT_FALSE(with(14, 0x46));    // options
    EXPECT_FALSE(with(20, 0x20));    // the first fragment
    EXPECT_FALSE(with(21, 1));       // a later one
    EXPECT_TRUE(with(20, 0x40));     // do not fragment
    EXPECT_FALSE(with(23, 1));       // ICMP
    EXPECT_FALSE(with(17, 51));      // longer than the frame
    EXPECT_FALSE(with(17, 27));      // shorter than its header
    EXPECT_FALSE(flowOf(Bytes(33))); // shorter than any
    EXPECT_FALSE(flowOf(Bytes{}));
    for (std::size_t length = 0; length < good.size(); length++)
        EXPECT_FALSE(flowOf(std::span{good}.first(length))) << length;
}

TEST(WorkloadPackets, ChecksumIsRightHoweverOftenItIsComputed) {
    std::mt19937 random(1);
    for (unsigned i = 0; i < 2000; i++) {
        auto flow = sessionFlow(random() % mostFlows);
        flow.fromPort = static_cast<std::uint16_t>(random());
        flow.protocol = random() % 2 == 0 ? IPPROTO_UDP : IPPROTO_TCP;
        auto frame = packetOf(flow, random() % 40);
        for (std::size_t at = 56; at < frame.size(); at++)
            frame.at(at) = static_cast<unsigned char>(random());
        frame.resize(frame.size() + random() % 10, 0xee); // padding is not summed
        frame.at(flow.protocol == IPPROTO_UDP ? 40 : 50) = static_cast<unsigned char>(random());
        writeChecksum(frame, 1 + i % 5);
        ASSERT_TRUE(segmentIsRight(frame)) << i;
        ASSERT_TRUE(headerIsRight(frame)) << i;
    }
}

TEST(WorkloadPackets, ChecksumOfNothingIsWrittenAsOnes) {
    // The sum of the rest is 0xffff where the last two bytes make it so.
    auto frame = packetOf(sessionFlow(0));
    for (unsigned last = 0; last < 0x10000; last++) {
        frame.at(62) = static_cast<unsigned char>(last >> 8U);
        frame.at(63) = static_cast<unsigned char>(last);
        writeChecksum(frame, 1);
        ASSERT_FALSE(frame.at(40) == 0 && frame.at(41) == 0) << last;
    }
}

TEST(WorkloadPackets, RedirectedPacketIsAsIfMadeForItsBackend) {
    std::mt19937 random(2);
    for (unsigned i = 0; i < 2000; i++) {
        auto flow = sessionFlow(random() % mostFlows);
        flow.protocol = random() % 2 == 0 ? IPPROTO_UDP : IPPROTO_TCP;
        const auto backend = backendOf(flow);
        auto frame = packetOf(flow);
        writeChecksum(frame, 1);
        redirect(frame, backend);
        auto expected = flow;
        expected.to = backend.address;
        expected.toPort = backend.port;
        auto anew = packetOf(expected);
        writeChecksum(anew, 1);
        ASSERT_EQ(frame, anew) << i;
    }
}

TEST(WorkloadPackets, ChecksumThatWasLeftOutStaysSo) {
    const auto flow = sessionFlow(3);
    auto frame = packetOf(flow);
    redirect(frame, backendOf(flow));
    EXPECT_EQ(frame.at(40), 0);
    EXPECT_EQ(frame.at(41), 0);
    EXPECT_TRUE(headerIsRight(frame));
}

TEST(WorkloadPackets, AddressesAreSwappedAndNothingElse) {
    auto frame = packetOf(sessionFlow(0));
    const auto before = frame;
    swapAddresses(frame);
    EXPECT_TRUE(std::equal(frame.begin(), frame.begin() + 6, before.begin() + 6));
    EXPECT_TRUE(std::equal(frame.begin() + 6, frame.begin() + 12, before.begin()));
    EXPECT_TRUE(std::equal(frame.begin() + 12, frame.end(), before.begin() + 12));
    Bytes tiny{1, 2, 3};
    swapAddresses(tiny);
    EXPECT_EQ(tiny, (Bytes{1, 2, 3}));
}

} // namespace
} // namespace tna::workload::test
