// SPDX-License-Identifier: Apache-2.0
// Which ports have frames steered to network functions, accelerated or not.
#include "world.hpp"

#include <gtest/gtest.h>

namespace tna::assemble {
namespace {

/// The port has a function.
struct Steered : World {
    Steered() {
        wishes.custom[portIndex].add(TNA_HOOK_INGRESS, "@functions");
        wishes.steered[portIndex] = "@functions";
    }
    [[nodiscard]] static bool steers(const PortPlan& plan) {
        return plan.profile &&
               plan.profile->custom.at(TNA_HOOK_INGRESS) == std::vector<std::string>{"@functions"};
    }
};

TEST(Steering, AcceleratedPortSteersBesides) {
    const auto plan = Steered().plan();
    EXPECT_TRUE(plan.accelerated());
    EXPECT_TRUE(Steered::steers(plan));
}

TEST(Steering, PortThatIsLeftToLinuxSteersAndNothingElse) {
    Steered world;
    world.port().bridgePort->locked = true;
    const auto plan = world.plan();
    EXPECT_FALSE(plan.accelerated());
    EXPECT_TRUE(Steered::steers(plan));
    EXPECT_TRUE(plan.profile->modules.empty());
    ASSERT_FALSE(plan.reasons.empty());
    EXPECT_EQ(plan.reasons.front().code, "locked") << "why it is not accelerated is told all the same";
}

TEST(Steering, LinkThatIsNoPortSteersAsWell) {
    Steered world;
    world.port().bridgePort.reset();
    world.port().master = 0;
    const auto plan = world.plan();
    EXPECT_FALSE(plan.accelerated());
    EXPECT_TRUE(Steered::steers(plan));
    EXPECT_FALSE(plan.egress);
    EXPECT_EQ(plan.reasons.front().code, "not-a-port");
}

TEST(Steering, PausedPortSteersNothing) {
    Steered world;
    world.wishes.paused.insert(portIndex);
    EXPECT_FALSE(world.plan().profile);
    Steered all;
    all.wishes.allPaused = true;
    EXPECT_FALSE(all.plan().profile);
}

TEST(Steering, ForeignProgramIsLeftAlone) {
    Steered world;
    world.port().xdp.driverProgram = 7;
    EXPECT_FALSE(world.plan().profile);
}

TEST(Steering, PortAtTcxSteersNothing) {
    Steered world;
    world.port().kind = "veth";
    world.capabilities.tcx = {true, "it is there"};
    world.wishes.atTcx = {portIndex};
    const auto plan = world.plan();
    EXPECT_TRUE(plan.accelerated());
    EXPECT_FALSE(Steered::steers(plan));
}

} // namespace
} // namespace tna::assemble
