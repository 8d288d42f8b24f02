// SPDX-License-Identifier: Apache-2.0
// At which hook a port's frames are seen, and what each hook has of a plan.
#include "assemble/hooks.hpp"
#include "containers.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::assemble {
namespace {

TEST(Hooks, PortOfAKindForTcxHasItsProfileThere) {
    const auto plan = Container().plan();
    ASSERT_TRUE(plan.profile) << plan.reasons.front().text;
    EXPECT_EQ(plan.hook, Hook::tcx);
    EXPECT_EQ(plan.profile->hook, Hook::tcx);
    EXPECT_EQ(plan.profile->name(), "bridge+tcx");
    EXPECT_FALSE(plan.profile->veth) << "nothing that a sender has left undone is in the way there";
}

TEST(Hooks, FramesLeaveByItFromTcxOnly) {
    const auto plan = Container().plan();
    EXPECT_FALSE(plan.egress);
    EXPECT_TRUE(plan.tcxEgress);
}

TEST(Hooks, FramesLeaveByAPortOfXdpFromBoth) {
    const auto plan = World().plan();
    EXPECT_EQ(plan.hook, Hook::xdp);
    EXPECT_TRUE(plan.egress);
    EXPECT_TRUE(plan.tcxEgress);
}

/// Linux itself sends there: no driver is asked for anything new.
TEST(Hooks, WhatADriverCanDoIsNoMatterAtTcx) {
    Container container;
    container.port().kind = "tun";
    container.capabilities.devices.clear();
    container.port().vlanRxOffload = true;
    container.port().xdp.driverProgram = 7;
    container.wishes.refused[portIndex] = {"egress-refused", "it has refused", {}};
    const auto plan = container.plan();
    EXPECT_TRUE(plan.profile);
    EXPECT_TRUE(plan.tcxEgress);
}

TEST(Hooks, WhatIsLearntOfRulesHoldsThereAsWell) {
    Container container;
    container.port().bridgePort.reset();
    container.port().master = 0;
    container.port().flags |= model::link_flag::up;
    container.port().addresses = {{.family = 4}};
    container.port().ip.forwarding4 = true;
    auto& other = container.network.links[9] = container.port();
    other.ifindex = 9;
    container.wishes.atTcx.insert(9);
    container.wishes.learning = true;
    const auto plan = container.plan();
    ASSERT_TRUE(plan.profile) << plan.reasons.front().text;
    EXPECT_EQ(plan.profile->name(), "route+rules+tcx");
}

struct Against {
    const char* name;
    std::function<void(Container&)> change;
    std::string code;
};
void PrintTo(const Against& against, std::ostream* out) {
    *out << against.name;
}

class AgainstTcx : public ::testing::TestWithParam<Against> {};

TEST_P(AgainstTcx, IsSaid) {
    Container container;
    GetParam().change(container);
    const auto plan = container.plan();
    EXPECT_FALSE(plan.profile);
    ASSERT_FALSE(plan.reasons.empty());
    EXPECT_EQ(plan.reasons.front().code, GetParam().code);
}

INSTANTIATE_TEST_SUITE_P(
    , AgainstTcx,
    ::testing::Values(
        Against{"KernelWithoutTcx", [](Container& c) { c.capabilities.tcx = {false, "it is not there"}; },
                "no-tcx"},
        Against{"NothingIsReadInPlace", [](Container& c) { c.capabilities.way = capability::Way::watched; },
                "no-tcx"},
        Against{"NotEthernet", [](Container& c) { c.port().ethernet = false; }, "not-ethernet"},
        Against{"PortOfASwitch", [](Container& c) { c.port().switchPort = true; }, "switchdev"},
        Against{"ConduitOfASwitch", [](Container& c) { c.above().switchPort = true; }, "switch-conduit"},
        Against{"FaceOfOthers", [](Container& c) { c.port().kind = "macvlan"; }, "stacked"},
        Against{"CustomModules", [](Container& c) { c.wishes.custom[portIndex].add(TNA_HOOK_BRIDGE, "a"); },
                "custom-modules"},
        Against{"Excluded",
                [](Container& c) {
                    c.wishes.excluded[portIndex] = {"excluded-kind", "by the configuration", {}};
                },
                "excluded-kind"}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(Hooks, WithoutTcxFramesLeaveByItFromXdp) {
    Container container;
    container.capabilities.tcx.available = false;
    auto plan = container.plan();
    EXPECT_EQ(plan.hook, Hook::xdp);
    EXPECT_TRUE(plan.egress);
    container.capabilities.tcx.available = true;
    container.capabilities.way = capability::Way::watched;
    plan = container.plan();
    EXPECT_TRUE(plan.egress);
    EXPECT_FALSE(plan.profile);
}

TEST(Hooks, NothingLeavesFromTcxByAPortWithModulesAtEgress) {
    World world;
    world.wishes.custom[portIndex].add(TNA_HOOK_EGRESS, "a");
    const auto plan = world.plan();
    EXPECT_TRUE(plan.egress);
    EXPECT_FALSE(plan.tcxEgress);
}

TEST(Hooks, CustomModulesForTcxAreThere) {
    Container container;
    container.wishes.custom[portIndex].add(TNA_HOOK_INGRESS, "a#1");
    EXPECT_EQ(container.plan().reasons.at(0).text,
              "it is for tcx, and the custom module a is for ports at XDP only");
    container.wishes.customAtTcx = {{"a#1", TNA_HOOK_BRIDGE}, {"b#1", TNA_HOOK_INGRESS}};
    EXPECT_FALSE(container.plan().profile) << "what another hook or module has does not count";
    container.wishes.customAtTcx.emplace("a#1", TNA_HOOK_INGRESS);
    const auto plan = container.plan();
    ASSERT_TRUE(plan.profile);
    EXPECT_EQ(plan.profile->hook, Hook::tcx);
    EXPECT_EQ(plan.profile->custom.at(TNA_HOOK_INGRESS), std::vector<std::string>{"a#1"});
    container.wishes.custom[portIndex].add(TNA_HOOK_INGRESS, "c#1");
    EXPECT_FALSE(container.plan().profile) << "all of them, or none";
}

/// It needs AF_XDP, and is in the way of nothing.
TEST(Hooks, WhatSteersIsNotAtTcx) {
    Container container;
    container.wishes.custom[portIndex].add(TNA_HOOK_INGRESS, "a#1");
    container.wishes.custom[portIndex].add(TNA_HOOK_INGRESS, "@functions");
    container.wishes.steered[portIndex] = "@functions";
    container.wishes.customAtTcx = {{"a#1", TNA_HOOK_INGRESS}};
    const auto plan = container.plan();
    ASSERT_TRUE(plan.profile);
    EXPECT_EQ(plan.profile->custom.at(TNA_HOOK_INGRESS), std::vector<std::string>{"a#1"});
}

/// Frames that a program has redirected bear a mark, which devices below would see.
TEST(Hooks, NothingLeavesFromTcxByADeviceOnTopOfOthers) {
    World world;
    world.port().kind = "ifb";
    EXPECT_FALSE(world.plan().tcxEgress);
}

TEST(Hooks, NothingLeavesFromTcxByAPortThatIsExcludedByName) {
    World world;
    world.wishes.excluded[portIndex] = {"excluded-name", "by the configuration", {}};
    EXPECT_FALSE(world.plan().tcxEgress);
}

TEST(Hooks, EachHookHasItsPartOfAPlan) {
    Container container;
    auto& other = container.network.links[9] = container.port();
    other.ifindex = 9;
    other.kind.clear();
    other.driver = "bnxt_en"; // which takes nothing that is short, at XDP
    container.capabilities.devices[9] = {.native = true, .redirectTarget = true, .frags = false};
    container.network.links[10] = other;
    container.network.links[10].ifindex = 10;
    container.capabilities.devices[10] = container.capabilities.devices[9];
    const auto plan = assemble(container.network, container.capabilities, container.wishes);
    const auto xdp = partAt(Hook::xdp, plan), tcx = partAt(Hook::tcx, plan);
    EXPECT_FALSE(xdp.ports.at(portIndex).profile);
    EXPECT_FALSE(xdp.ports.at(portIndex).egress);
    ASSERT_TRUE(xdp.ports.at(9).profile);
    EXPECT_TRUE(xdp.ports.at(9).profile->tcxBehind);
    EXPECT_STREQ(nameOfHooks(plan.ports.at(9)), "xdp-native+tcx");
    EXPECT_EQ(xdp.ports.at(9).shortest, 52U);
    EXPECT_TRUE(tcx.ports.at(portIndex).profile);
    ASSERT_TRUE(tcx.ports.at(9).profile);
    EXPECT_EQ(tcx.ports.at(9).profile->hook, Hook::tcx);
    EXPECT_TRUE(tcx.ports.at(9).egress);
    EXPECT_EQ(tcx.ports.at(9).shortest, 0U);
    EXPECT_TRUE(anyProfile(tcx));
    EXPECT_FALSE(anyProfile(partAt(Hook::tcx, Plan{})));
}

} // namespace
} // namespace tna::assemble
