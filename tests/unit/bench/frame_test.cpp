// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/frame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;

unsigned ipv4Sum(const Frame& frame) {
    unsigned sum = 0;
    for (std::size_t at = 14; at < 34; at += 2)
        sum += frame[at] << 8U | frame[at + 1];
    return (sum & 0xffffU) + (sum >> 16U);
}

bool startsWith(const Frame& frame, std::size_t at, const Frame& start) {
    return std::equal(start.begin(), start.end(), frame.begin() + static_cast<std::ptrdiff_t>(at));
}

TEST(BenchFrame, OfABridgeNamesItsStationsAndComesOutAsItWas) {
    const Frames frames{Scenario::bridge, 64};
    const auto frame = frames.sent(0x0123);
    ASSERT_EQ(frame.size(), 64U);
    EXPECT_TRUE(startsWith(frame, 0, {2, 0, 0, 0, 0x01, 0x23, 2, 1, 0, 0, 0x01, 0x23, 8, 0, 0x45, 0, 0, 50}));
    EXPECT_EQ(ipv4Sum(frame), 0xffffU);
    EXPECT_EQ(frames.forwarded(0x0123), frame);
}

TEST(BenchFrame, OfARouterComesOutOneHopFurther) {
    for (const auto scenario : {Scenario::router, Scenario::bridges}) {
        const Frames frames{scenario, 100};
        const auto sent = frames.sent(1);
        auto forwarded = frames.forwarded(1);
        EXPECT_TRUE(startsWith(sent, 0, {2, 0, 0xff, 0, 1, 1, 2, 0, 0xff, 0, 1, 2, 8, 0}));
        EXPECT_TRUE(startsWith(forwarded, 0, {2, 0, 0xff, 0, 2, 2, 2, 0, 0xff, 0, 2, 1, 8, 0}));
        EXPECT_EQ(ipv4Sum(sent), 0xffffU);
        EXPECT_EQ(ipv4Sum(forwarded), 0xffffU);
        EXPECT_EQ(sent[22], 64);
        EXPECT_EQ(forwarded[22], 63);
        // 100.64.0.0/10, and 0x9e3779b1 cut to 22 bits
        EXPECT_TRUE(startsWith(sent, 30, {100, 64 + 0x37, 0x79, 0xb1}));
        std::copy_n(sent.begin(), 12, forwarded.begin());
        std::copy_n(sent.begin() + 22, 4, forwarded.begin() + 22);
        EXPECT_EQ(sent, forwarded);
    }
}

TEST(BenchFrame, OfAnIpv6RouterFitsIntoTheSmallest) {
    const Frames frames{Scenario::router6, smallestFrame};
    const auto sent = frames.sent(1);
    auto forwarded = frames.forwarded(1);
    EXPECT_TRUE(startsWith(sent, 12, {0x86, 0xdd, 0x60, 0, 0, 0, 0, 10, 59, 64}));
    EXPECT_TRUE(startsWith(sent, 38, {0x20, 1, 0x0d, 0xb8, 0xdd, 0xe6, 0xc4, 0, 0}));
    EXPECT_EQ(forwarded[21], 63);
    EXPECT_LE(frames.head().markAt + 4, smallestFrame);
    EXPECT_GT(frames.smallestTimed(), smallestFrame);
    std::copy_n(sent.begin(), 12, forwarded.begin());
    forwarded[21]++;
    EXPECT_EQ(sent, forwarded);
}

TEST(BenchFrame, OfAFirewallIsAConnectionOfItsOwnAndComesBack) {
    for (const auto scenario : {Scenario::firewall, Scenario::firewall6}) {
        const std::size_t ports = scenario == Scenario::firewall ? 34 : 54;
        const Frames frames{scenario, 100};
        const auto sent = frames.sent(5);
        // UDP, from port 1024 + 5 to 9; and back, where nothing but addresses and ports differ
        EXPECT_TRUE(startsWith(sent, ports, {0x04, 0x05, 0, 9, 0, static_cast<unsigned char>(100 - ports)}));
        EXPECT_TRUE(startsWith(frames.forwarded(5), ports, {0x04, 0x05, 0, 9}));
        const auto back = frames.back(5);
        EXPECT_TRUE(startsWith(back, ports, {0, 9, 0x04, 0x05}));
        EXPECT_NE(frames.sent(5 + (1U << 14U)), sent);
        const auto own = frames.head().ownBits;
        EXPECT_TRUE(startsWith(own, ports, {0xff, 0xff, 0, 0}));
    }
}

TEST(BenchFrame, FlowsGoToDifferentPlaces) {
    for (const auto scenario : {Scenario::bridge, Scenario::router, Scenario::router6}) {
        std::set<Frame> all;
        for (unsigned flow = 0; flow < 5000; flow++)
            all.insert(Frames{scenario, 64}.sent(flow * 797));
        EXPECT_EQ(all.size(), 5000U);
    }
}

std::string differencesOf(const std::vector<Frame>& arrived, unsigned flows) {
    std::vector<Frame> expected;
    for (unsigned flow = 0; flow < flows; flow++)
        expected.push_back(Frames{Scenario::bridge, 64}.sent(flow));
    return differences(arrived, expected);
}

TEST(BenchFrame, NothingDiffersWhenEveryFlowArrivesInAnyOrder) {
    const Frames frames{Scenario::bridge, 64};
    EXPECT_EQ(differencesOf({frames.sent(1), frames.sent(2), frames.sent(0)}, 3), "");
}

TEST(BenchFrame, EveryDifferenceIsFound) {
    const Frames frames{Scenario::bridge, 64};
    for (std::size_t at = 0; at < 64; at++) {
        auto frame = frames.sent(0);
        frame[at] ^= 0x80U;
        EXPECT_NE(differencesOf({frame}, 1), "") << "byte " << at;
    }
    auto changed = frames.sent(2);
    changed[22]--; // a hop
    EXPECT_THAT(differencesOf({changed}, 3), HasSubstr("byte 22 of a frame is 3f instead of 40"));
    const Frames longer{Scenario::bridge, 65};
    EXPECT_THAT(differencesOf({longer.sent(0)}, 1), HasSubstr("64 bytes arrived with 65"));
    EXPECT_THAT(differencesOf({frames.sent(0)}, 2), HasSubstr("1 of 2 frames arrived"));
    EXPECT_THAT(differencesOf({frames.sent(0), frames.sent(0)}, 2), HasSubstr("twice"));
}

TEST(BenchSetup, WhatCannotBeIsNamed) {
    EXPECT_EQ(problemWith(bench::Setup{}), "");
    EXPECT_EQ(problemWith({.scenario = Scenario::router, .flows = 1U << 22U, .routes = 1U << 22U}), "");
    EXPECT_THAT(problemWith({.flows = 0}), HasSubstr("--stations must be from 1 to 100000"));
    EXPECT_THAT(problemWith({.flows = 100'001}), HasSubstr("--stations"));
    EXPECT_THAT(problemWith({.routes = 2}), HasSubstr("choose one with --scenario"));
    EXPECT_THAT(problemWith({.scenario = Scenario::router, .routes = 0}), HasSubstr("--routes"));
    EXPECT_THAT(problemWith({.frameSize = 63}), HasSubstr("--size must be from 64"));
    EXPECT_THAT(problemWith({.scenario = Scenario::router, .tracking = Tracking::oneWay}),
                HasSubstr("--tracking and --rule-changes are of firewalls"));
    EXPECT_THAT(problemWith({.ruleChanges = 1}), HasSubstr("are of firewalls"));
    EXPECT_THAT(problemWith({.scenario = Scenario::firewall, .ruleChanges = 1001}),
                HasSubstr("--rule-changes must be up to"));
    EXPECT_THAT(problemWith({.scenario = Scenario::firewall, .protocol = Protocol::tcp}),
                HasSubstr("takes no TCP"));
    EXPECT_THAT(problemWith({.scenario = Scenario::nat, .tracking = Tracking::off}),
                HasSubstr("leave out --tracking off"));
}

/// Only addresses differ, and no checksum: the words of the router's add up to those of the generator's.
TEST(BenchFrame, OfNatComesFromTheRouter) {
    for (const auto scenario : {Scenario::nat, Scenario::nat6}) {
        const bool six = scenario == Scenario::nat6;
        const Frames frames{scenario, 100};
        const Frames plain{six ? Scenario::firewall6 : Scenario::firewall, 100};
        EXPECT_EQ(frames.sent(5), plain.sent(5));
        const std::size_t source = six ? 22 : 26, destination = six ? 38 : 30, size = six ? 16 : 4;
        const Frame own = six ? Frame{0xfd, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1} : Frame{10, 2, 0, 1};
        auto forwarded = plain.forwarded(5), back = plain.back(5);
        std::ranges::copy(own, forwarded.begin() + static_cast<std::ptrdiff_t>(source));
        std::ranges::copy(own, back.begin() + static_cast<std::ptrdiff_t>(destination));
        EXPECT_EQ(size, own.size());
        EXPECT_EQ(frames.forwarded(5), forwarded);
        EXPECT_EQ(frames.back(5), back);
    }
}

/// Senders are as scattered as destinations are elsewhere; the host behind the router has another port than
/// it.
TEST(BenchFrame, OfAForwardedPortGoToTheHostBehind) {
    for (const auto scenario : {Scenario::forward, Scenario::forward6}) {
        const bool six = scenario == Scenario::forward6;
        const Frames frames{scenario, 100};
        const Frames plain{six ? Scenario::firewall6 : Scenario::firewall, 100};
        const std::ptrdiff_t source = six ? 22 : 26, destination = six ? 38 : 30, size = six ? 16 : 4,
                             port = six ? 56 : 36;
        const auto sent = frames.sent(5), other = plain.sent(5), forwarded = frames.forwarded(5);
        EXPECT_TRUE(
            std::equal(sent.begin() + source, sent.begin() + source + size, other.begin() + destination));
        EXPECT_EQ(sent[static_cast<std::size_t>(destination + size - 1)], 3);
        EXPECT_EQ(sent[static_cast<std::size_t>(port + 1)], 9);
        auto expected = sent;
        std::copy_n(plain.forwarded(5).begin(), 12, expected.begin());
        expected[six ? 21 : 22]--;
        const Frame host =
            six ? Frame{0xfd, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2} : Frame{10, 2, 0, 2};
        std::ranges::copy(host, expected.begin() + destination);
        std::ranges::copy(Frame{2009 >> 8, 2009 & 255}, expected.begin() + port);
        if (!six)
            std::copy_n(forwarded.begin() + 24, 2, expected.begin() + 24);
        EXPECT_EQ(forwarded, expected);
        const auto back = frames.back(5);
        EXPECT_TRUE(std::equal(host.begin(), host.end(), back.begin() + source));
        EXPECT_TRUE(
            std::equal(sent.begin() + source, sent.begin() + source + size, back.begin() + destination));
        EXPECT_EQ(back[static_cast<std::size_t>(port - 2)] << 8 | back[static_cast<std::size_t>(port - 1)],
                  2009);
    }
}

TEST(BenchSetup, FramesThatNobodyHasChosenHaveRoomForTheMark) {
    for (std::size_t i = 0; i < scenarioNames.size(); i++) {
        bench::Setup setup{.scenario = static_cast<Scenario>(i)};
        setup.frameSize = usualSizeOf(setup);
        EXPECT_EQ(problemWith(setup), "") << scenarioNames.at(i);
        const bool six = filters(setup.scenario) && usesIpv6(setup.scenario);
        EXPECT_EQ(setup.frameSize, six ? 70U : 64U);
    }
}

} // namespace
} // namespace tna::bench
