// SPDX-License-Identifier: Apache-2.0
#include "supervisor_fixture.hpp"

#include <gmock/gmock.h>

namespace tna::test {
namespace {

using daemon::RestingPorts;
using ::testing::HasSubstr;

/// A port at tcx, and what its program counts.
class Resting : public SupervisorTest {
protected:
    void SetUp() override {
        kernel_->tcx = true;
        wanted_.config.ports.tcx = {"eth0"};
        start();
        ASSERT_EQ(port().hook, assemble::Hook::tcx);
        ASSERT_TRUE(accelerated());
    }
    /// So many frames in each second, for a time; the seconds with which the port has begun or ceased to
    /// rest.
    std::vector<int> pass(int length, unsigned left, unsigned forwarded) {
        std::vector<int> found;
        for (int second = 1; second <= length; second++) {
            const bool before = accelerated();
            if (before) {
                auto& counted = path().counters[portIndex];
                counted.slow[TNA_REASON_LOCAL] += left;
                counted.inPackets += forwarded;
            }
            wait(seconds(1));
            if (accelerated() != before)
                found.push_back(second);
        }
        return found;
    }
};

TEST_F(Resting, WhatForwardsNothingOfManyFramesRestsAndIsTriedAgain) {
    EXPECT_EQ(pass(60, 5000, 0).size(), 1U);
    EXPECT_FALSE(accelerated());
    EXPECT_EQ(reason(), "resting");
    EXPECT_THAT(port().reasons.front().text, HasSubstr("of 25000 frames"));
    EXPECT_THAT(port().reasons.front().hint, HasSubstr("tnactl resume eth0"));
    EXPECT_FALSE(path().attached.contains(portIndex));
    EXPECT_TRUE(port().tcxEgress) << "others' frames may leave by it";
    EXPECT_EQ(pass(30, 0, 0).size(), 1U);
    EXPECT_TRUE(accelerated());
}

TEST_F(Resting, WhatForwardsSomeOfThemDoesNot) {
    EXPECT_TRUE(pass(100, 5000, 2500).empty());
    EXPECT_FALSE(pass(100, 5000, 2499).empty());
}

TEST_F(Resting, WhereFewFramesComeNothingIsGained) {
    EXPECT_TRUE(pass(100, 999, 0).empty());
    EXPECT_FALSE(pass(100, 1000, 0).empty());
}

/// What was forwarded before counts for nothing, nor does a burst.
TEST_F(Resting, OnlyWhatGoesOnMatters) {
    EXPECT_TRUE(pass(30, 0, 100000).empty());
    EXPECT_TRUE(pass(5, 100000, 0).empty());
    EXPECT_TRUE(pass(30, 0, 0).empty());
    EXPECT_FALSE(pass(15, 5000, 0).empty());
}

TEST_F(Resting, RestsGetLongerWhileNothingIsDifferent) {
    const auto changes = pass(4500, 5000, 0);
    ASSERT_GT(changes.size(), 12U);
    std::vector<int> lengths;
    for (std::size_t i = 1; i < changes.size(); i += 2)
        lengths.push_back(changes[i] - changes[i - 1]);
    EXPECT_THAT(lengths, ::testing::ElementsAre(60, 120, 240, 480, 960, 960, 960));
    // Something was to be forwarded meanwhile.
    while (!accelerated())
        (void)pass(1, 0, 0);
    EXPECT_TRUE(pass(60, 100, 5000).empty());
    const auto anew = pass(80, 5000, 0);
    ASSERT_EQ(anew.size(), 2U);
    EXPECT_EQ(anew[1] - anew[0], 60);
}

TEST_F(Resting, OperatorEndsIt) {
    (void)pass(20, 5000, 0);
    ASSERT_FALSE(accelerated());
    supervisor_->readAllAgain();
    supervisor_->reconcile();
    EXPECT_TRUE(accelerated());
    wanted_.config.ports.rest = false;
    EXPECT_TRUE(pass(100, 5000, 0).empty());
}

TEST_F(Resting, HintNamesItAsItIsCalledNow) {
    wanted_.config.ports.tcx = {"*"};
    (void)pass(20, 5000, 0);
    ASSERT_EQ(reason(), "resting");
    announce([](auto& model) { model.links.at(portIndex).name = "lan0"; });
    ASSERT_EQ(reason(), "resting");
    EXPECT_THAT(port().reasons.front().hint, HasSubstr("tnactl resume lan0"));
}

TEST_F(Resting, PortOfTheSameIndexIsAnother) {
    (void)pass(20, 5000, 0);
    ASSERT_FALSE(accelerated());
    const auto link = network_->model.links.at(portIndex);
    announce([](auto& model) { model.links.erase(portIndex); });
    wait(seconds(1));
    announce([&](auto& model) { model.links.emplace(portIndex, link); });
    EXPECT_TRUE(accelerated());
}

/// As where a port has got another program.
TEST_F(Resting, CountersThatBeginAnewSayNothing) {
    EXPECT_TRUE(pass(9, 5000, 0).empty());
    path().counters[portIndex] = {};
    EXPECT_TRUE(pass(5, 1000, 0).empty());
}

TEST(RestingPlan, PortsWithModulesOrAtXdpDoNot) {
    auto state = std::make_shared<PathState>();
    FakePath path(state);
    assemble::Plan plan;
    auto& port = plan.ports[portIndex];
    port.ifindex = portIndex;
    port.hook = assemble::Hook::tcx;
    port.profile.emplace();
    port.profile->modules.push_back({"bridge", {}});
    const auto rests = [&] {
        RestingPorts::Time now{};
        RestingPorts resting(now);
        bool any = false;
        for (int i = 0; i < 30; i++) {
            state->counters[portIndex].slow[TNA_REASON_LOCAL] += 5000;
            now += std::chrono::seconds(1);
            any |= resting.follow(path, plan, now);
        }
        return any;
    };
    EXPECT_TRUE(rests());
    port.profile->custom.add(TNA_HOOK_BRIDGE, "a");
    EXPECT_FALSE(rests());
    port.profile->custom = {};
    port.hook = assemble::Hook::xdp;
    EXPECT_FALSE(rests());
}

} // namespace
} // namespace tna::test
