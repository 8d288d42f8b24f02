// SPDX-License-Identifier: Apache-2.0
// Ports that a flowtable names.
#include "assemble/modules/flowtable.hpp"
#include "world.hpp"

#include <gtest/gtest.h>

namespace tna::assemble {
namespace {

/// A router's port in a flowtable, on a kernel that lets XDP look into it.
struct InFlowtable : World {
    InFlowtable() {
        network.links.erase(bridgeIndex);
        port().bridgePort.reset();
        port().master = 0;
        port().flags = model::link_flag::up;
        port().ip.forwarding4 = true;
        port().addresses = {{4, "10.0.0.1/24", "global"}};
        capabilities.flowtable.available = true;
        wishes.learning = true;
        network.netfilter.hooks = {{"netdev", "fw4", "ft", "ingress", port().name, true}};
    }
    [[nodiscard]] std::string profile() const {
        const auto decided = plan();
        return decided.profile ? decided.profile->name() : "";
    }
};

TEST(AssembleFlowtable, PortInItHasThatModuleAlone) {
    const auto plan = InFlowtable().plan();
    ASSERT_TRUE(plan.profile);
    EXPECT_EQ(plan.profile->name(), "flowtable");
    EXPECT_FALSE(plan.profile->rules);
    EXPECT_TRUE(plan.routed);
    EXPECT_TRUE(plan.egress);
}

TEST(AssembleFlowtable, OtherPortsAreRouters) {
    InFlowtable world;
    world.network.netfilter.hooks.front().device = "other0";
    EXPECT_EQ(world.profile(), "route");
}

TEST(AssembleFlowtable, AChainOfThatDeviceIsNone) {
    InFlowtable world;
    world.network.netfilter.hooks.front().flowtable = false;
    EXPECT_EQ(world.profile(), "route");
}

TEST(AssembleFlowtable, NeedsAKernelThatLetsXdpLookIntoIt) {
    InFlowtable world;
    world.capabilities.flowtable.available = false;
    EXPECT_EQ(world.profile(), "route");
}

TEST(AssembleFlowtable, CustomModulesBehindRoutingStayWhereTheyAre) {
    InFlowtable world;
    world.wishes.custom[world.port().ifindex].add(TNA_HOOK_ROUTE, "one");
    EXPECT_EQ(world.profile().substr(0, 5), "route");
}

TEST(AssembleFlowtable, PortsAtTcxAreRouters) {
    InFlowtable world;
    world.capabilities.tcx.available = true;
    world.wishes.atTcx.insert(world.port().ifindex);
    EXPECT_EQ(world.profile().substr(0, 5), "route");
}

TEST(AssembleFlowtable, WhatAnotherDeviceOwnsIsLeftToLinux) {
    InFlowtable world;
    world.network.links[99] = world.port();
    world.network.links[99].ifindex = 99;
    world.network.links[99].name = "team0";
    world.network.links[99].kind = "team";
    world.port().master = 99;
    const auto plan = world.plan();
    EXPECT_FALSE(plan.profile);
    EXPECT_TRUE(
        std::ranges::any_of(plan.reasons, [](const Reason& reason) { return reason.code == "has-master"; }));
}

TEST(AssembleFlowtable, WhereNothingIsReadInPlaceItIsLinuxs) {
    InFlowtable world;
    world.capabilities.way = capability::Way::watched;
    EXPECT_EQ(world.profile(), "");
}

} // namespace
} // namespace tna::assemble
