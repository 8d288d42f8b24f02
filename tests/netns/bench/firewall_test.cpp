// SPDX-License-Identifier: Apache-2.0
// Whether flows are to a firewall what the benchmark says; never how fast anything is.
#include "bench/measure/throughput.hpp"
#include "support/namespace.hpp"
#include "unwatched.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;

class BenchOfFirewalls : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto why = test::cannotUseNamespaces(); !why.empty())
            GTEST_SKIP() << why;
        Unwatched watcher;
        auto options = firewall();
        options.contenders = {"linux"};
        if (const auto tried = measureThroughput(options, watcher); !tried)
            GTEST_SKIP() << "needs nft and connection tracking: " << tried.error().sentence();
    }
    static ThroughputOptions firewall() {
        ThroughputOptions options;
        options.cpus = {1};
        options.rounds = 1;
        options.seconds = 0.01;
        options.leastFrames = 5000;
        options.tnad = TNAD;
        options.setup.scenario = Scenario::firewall;
        options.contenders = {"linux", "tna"};
        options.stations = {3};
        options.rules = {20};
        return options;
    }
    /// Frames of tna, of which so many were slow.
    static Sample sampleOfTna(const ThroughputOptions& options) {
        Unwatched watcher;
        const auto all = measureThroughput(options, watcher);
        EXPECT_TRUE(all) << all.error().sentence();
        if (!all || all->back().rounds.empty()) {
            ADD_FAILURE() << (all ? all->back().notMeasured : "");
            return {};
        }
        EXPECT_EQ(all->front().notMeasured, "");
        EXPECT_EQ(all->front().rounds.front().lost(), 0U);
        return all->back().rounds.front();
    }
};

/// What comes out is compared with what plain NAT makes of frames, before anything is measured.
TEST_F(BenchOfFirewalls, TranslatedFlowsAreFast) {
    for (const auto scenario : {Scenario::nat, Scenario::nat6, Scenario::forward, Scenario::forward6}) {
        auto options = firewall();
        options.setup.scenario = scenario;
        options.setup.frameSize = usualSizeOf(options.setup);
        options.sizes = {options.setup.frameSize};
        const auto sample = sampleOfTna(options);
        if (sample.slow == sample.total.sent)
            GTEST_SKIP() << "this kernel does not let tnad learn";
        EXPECT_GT(sample.fast(), 0.5) << nameOf(scenario);
    }
}

/// Under load, packets come several at a time: it must be learnt from those, too.
TEST_F(BenchOfFirewalls, EstablishedFlowsAreFast) {
    const auto sample = sampleOfTna(firewall());
    if (sample.slow == sample.total.sent)
        GTEST_SKIP() << "this kernel does not let tnad learn";
    EXPECT_GT(sample.fast(), 0.5);
}

TEST_F(BenchOfFirewalls, FlowsThatAreNotAnsweredOrNewAreNot) {
    auto options = firewall();
    options.stations = {100'000};
    for (const auto tracking : {Tracking::oneWay, Tracking::fresh}) {
        options.setup.tracking = tracking;
        const auto sample = sampleOfTna(options);
        EXPECT_EQ(sample.fast(), 0) << nameOf(tracking);
        EXPECT_FALSE(sample.suspect());
    }
}

TEST_F(BenchOfFirewalls, AreMeasuredWithoutConnectionsAndWithRulesThatChange) {
    auto options = firewall();
    options.setup.tracking = Tracking::off;
    EXPECT_GT(sampleOfTna(options).received, 0U);
    options.setup.tracking = Tracking::established;
    options.ruleChanges = {50};
    options.seconds = 0.3;
    EXPECT_GT(sampleOfTna(options).received, 0U);
}

TEST_F(BenchOfFirewalls, WhatThereIsNoRoomForIsNamed) {
    auto options = firewall();
    options.stations = {1U << 22U};
    options.contenders = {"linux"};
    Unwatched watcher;
    const auto all = measureThroughput(options, watcher);
    if (all)
        GTEST_SKIP() << "there is room for them on this machine";
    EXPECT_THAT(all.error().sentence(), HasSubstr("sysctl -w net.netfilter.nf_conntrack_max="));
}

} // namespace
} // namespace tna::bench
