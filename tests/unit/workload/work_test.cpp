// SPDX-License-Identifier: Apache-2.0
#include "functions/workload/work.hpp"

#include "functions/workload/packet.hpp"
#include "packets.hpp"

#include <gtest/gtest.h>

namespace tna::workload::test {
namespace {

Bytes swapped(Bytes frame) {
    swapAddresses(frame);
    return frame;
}

TEST(WorkloadTable, FindsWhatWasAddedAndNothingElse) {
    constexpr std::uint32_t count = 5000;
    FlowTable table(count);
    for (std::uint32_t i = 0; i < count; i++)
        table.add(sessionFlow(i), {i, 7});
    for (std::uint32_t i = 0; i < count; i++) {
        const auto* found = table.find(sessionFlow(i));
        ASSERT_NE(found, nullptr) << i;
        ASSERT_EQ(found->address, i);
        ASSERT_EQ(table.find(blockedFlow(i)), nullptr) << i;
        auto other = sessionFlow(i);
        other.toPort ^= 1U;
        ASSERT_EQ(table.find(other), nullptr) << i;
    }
    EXPECT_EQ(FlowTable(0).find(sessionFlow(0)), nullptr);
}

TEST(Workloads, MacswapAndLookupOnlySwapAddresses) {
    const auto frame = packetOf(sessionFlow(1));
    for (const auto work : {Work::macswap, Work::lookup}) {
        Worker worker{work, {.entries = 100}};
        auto treated = frame;
        EXPECT_TRUE(worker.treat(treated));
        EXPECT_EQ(treated, swapped(frame));
    }
}

TEST(Workloads, LookupReadsAllOfItsTable) {
    // Of two lines, the values 0 and 1: a thousand frames read both.
    Worker worker{Work::lookup, {.entries = 2}};
    auto frame = packetOf(sessionFlow(1));
    for (unsigned i = 0; i < 1000; i++)
        EXPECT_TRUE(worker.treat(frame));
    EXPECT_GT(worker.result(), 400U);
    EXPECT_LT(worker.result(), 600U);
}

TEST(Workloads, ChecksumLeavesAloneWhatHasNone) {
    Worker worker{Work::checksum, {.times = 2}};
    Bytes arp(60, 1);
    const auto before = arp;
    EXPECT_TRUE(worker.treat(arp));
    EXPECT_EQ(arp, swapped(before));
    auto frame = packetOf(sessionFlow(1));
    EXPECT_TRUE(worker.treat(frame));
    EXPECT_TRUE(segmentIsRight(frame));
}

TEST(Workloads, FirewallDropsItsConnectionsAndNoOthers) {
    Worker worker{Work::firewall, {.entries = 100}};
    for (std::uint32_t i = 0; i < 200; i++) {
        auto frame = packetOf(blockedFlow(i));
        EXPECT_EQ(worker.treat(frame), i >= 100) << i;
    }
    const auto session = packetOf(sessionFlow(1));
    auto frame = session;
    EXPECT_TRUE(worker.treat(frame));
    EXPECT_EQ(frame, swapped(session));
}

TEST(Workloads, ChainOfNoFirewallDropsNothing) {
    Worker worker{Work::chain, {.entries = 0, .sessions = 1}};
    for (std::uint32_t i = 0; i < 10; i++) {
        auto frame = packetOf(blockedFlow(i));
        EXPECT_TRUE(worker.treat(frame));
        EXPECT_EQ(frame, swapped(packetOf(blockedFlow(i))));
    }
    auto frame = packetOf(sessionFlow(0));
    EXPECT_TRUE(worker.treat(frame));
    EXPECT_NE(frame, swapped(packetOf(sessionFlow(0)))) << "it is another destination's";
}

TEST(Workloads, ChainDropsAndSendsSessionsToTheirBackends) {
    Worker worker{Work::chain, {.entries = 10, .sessions = 20}};
    auto blocked = packetOf(blockedFlow(9));
    EXPECT_FALSE(worker.treat(blocked));
    for (std::uint32_t i = 0; i < 30; i++) {
        const auto flow = sessionFlow(i);
        auto frame = packetOf(flow);
        auto to = flow;
        if (i < 20) {
            to.to = backendOf(flow).address;
            to.toPort = backendOf(flow).port;
        }
        EXPECT_TRUE(worker.treat(frame));
        EXPECT_EQ(frame, swapped(packetOf(to))) << i;
    }
}

} // namespace
} // namespace tna::workload::test
