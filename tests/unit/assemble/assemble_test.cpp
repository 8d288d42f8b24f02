// SPDX-License-Identifier: Apache-2.0
#include "world.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::assemble {
namespace {

TEST(Assemble, BridgePortWithNothingInTheWayIsAccelerated) {
    const auto plan = World().plan();
    ASSERT_TRUE(plan.profile);
    EXPECT_EQ(plan.profile->name(), "bridge");
    EXPECT_EQ(plan.profile->moduleNames(), std::vector<std::string>{"bridge"});
    EXPECT_TRUE(plan.egress);
    EXPECT_TRUE(plan.reasons.empty());
}

TEST(Assemble, LinkThatIsNoBridgePortIsNotInThePlan) {
    World world;
    world.port().bridgePort.reset();
    EXPECT_TRUE(assemble(world.network, world.capabilities, world.wishes).ports.empty());
}

TEST(Assemble, PortOfABridgeThatIsNotSeenIsNotInThePlan) {
    World world;
    world.network.links.erase(bridgeIndex);
    EXPECT_TRUE(assemble(world.network, world.capabilities, world.wishes).ports.empty());
}

TEST(Assemble, PortOfAMasterWithoutBridgeOptionsIsNotInThePlan) {
    World world;
    world.bridge().bridge.reset();
    EXPECT_TRUE(assemble(world.network, world.capabilities, world.wishes).ports.empty());
}

TEST(Assemble, VethPortsGetTheChecksThatLocalSendersNeed) {
    World world;
    world.port().kind = "veth";
    EXPECT_TRUE(world.plan().profile->veth);
}

TEST(Assemble, TagsThatVethKeepsBesideAFrameAreSeenByTheFastPath) {
    World world;
    world.port().kind = "veth";
    world.port().vlanRxOffload = true;
    EXPECT_TRUE(world.plan().profile);
}

TEST(Assemble, BridgeThatFiltersVlansGetsItsProtocol) {
    World world;
    world.capabilities.inPlaceVlans.available = true;
    world.bridge().bridge->vlanProtocol = 0x88a8;
    EXPECT_EQ(world.plan().profile->parameter("bridge", "vlan"), 0);
    world.bridge().bridge->vlanFiltering = true;
    EXPECT_EQ(world.plan().profile->parameter("bridge", "vlan"), 0x88a8);
}

TEST(Assemble, BrNetfilterIsCheckedWhereItIsPresent) {
    World world;
    world.capabilities.brNetfilter = true;
    EXPECT_TRUE(world.plan().profile->brNetfilter);
}

struct Rule {
    const char* name;
    std::function<void(World&)> change;
    std::string code;
    bool egress = true;
};
void PrintTo(const Rule& rule, std::ostream* out) {
    *out << rule.name;
}

class LeftToLinux : public ::testing::TestWithParam<Rule> {};

TEST_P(LeftToLinux, WithItsReason) {
    World world;
    GetParam().change(world);
    const auto plan = world.plan();
    EXPECT_FALSE(plan.profile);
    ASSERT_EQ(plan.reasons.size(), 1U);
    EXPECT_EQ(plan.reasons.front().code, GetParam().code);
    EXPECT_FALSE(plan.reasons.front().text.empty());
    EXPECT_EQ(plan.egress, GetParam().egress);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, LeftToLinux,
    ::testing::Values(
        Rule{"Paused", [](World& w) { w.wishes.paused.insert(portIndex); }, "paused", false},
        Rule{"AllPaused", [](World& w) { w.wishes.allPaused = true; }, "paused", false},
        Rule{"ExcludedByName", [](World& w) { w.wishes.excluded[portIndex] = {"excluded-name", "x", ""}; },
             "excluded-name", false},
        Rule{"ExcludedByKind", [](World& w) { w.wishes.excluded[portIndex] = {"excluded-kind", "x", ""}; },
             "excluded-kind", true},
        Rule{"ExcludedByDriver",
             [](World& w) { w.wishes.excluded[portIndex] = {"excluded-driver", "x", ""}; }, "excluded-driver",
             true},
        Rule{"ForeignNativeProgram", [](World& w) { w.port().xdp.driverProgram = 7; }, "foreign-xdp"},
        Rule{"ForeignGenericProgram", [](World& w) { w.port().xdp.genericProgram = 7; }, "foreign-xdp"},
        Rule{"ForeignOffloadedProgram", [](World& w) { w.port().xdp.offloadProgram = 7; }, "foreign-xdp"},
        Rule{"NotEthernet", [](World& w) { w.port().ethernet = false; }, "not-ethernet", false},
        Rule{"SwitchPort", [](World& w) { w.port().switchPort = true; }, "switchdev", false},
        Rule{"LeadsToASwitch", [](World& w) { w.above().switchPort = true; }, "switch-conduit"},
        Rule{"NoNativeXdp", [](World& w) { w.capabilities.devices[portIndex].native = false; },
             "no-native-xdp"},
        Rule{"FeaturesUnknown", [](World& w) { w.capabilities.devices.clear(); }, "no-native-xdp"},
        Rule{"ProgramsDoNotLoad", [](World& w) { w.capabilities.fastPath.available = false; }, "kernel"},
        Rule{"FdbNotProved", [](World& w) { w.capabilities.inPlaceFdb.available = false; }, "fdb-not-proved"},
        Rule{"VlanFiltering", [](World& w) { w.bridge().bridge->vlanFiltering = true; }, "vlans-not-proved"},
        Rule{"RxVlanOffload", [](World& w) { w.port().vlanRxOffload = true; }, "vlan-offload"},
        Rule{"NoAgeingTime", [](World& w) { w.bridge().bridge->ageingTime = 0; }, "no-ageing-time"},
        Rule{"LearningOff", [](World& w) { w.port().bridgePort->learning = false; }, "learning-off"},
        Rule{"Locked", [](World& w) { w.port().bridgePort->locked = true; }, "locked"},
        Rule{"MacAuthenticationBypass", [](World& w) { w.port().bridgePort->mab = true; }, "locked"},
        Rule{"VlanTunnel", [](World& w) { w.port().bridgePort->vlanTunnel = true; }, "vlan-tunnel"},
        Rule{"NeighbourSuppression", [](World& w) { w.port().bridgePort->neighSuppress = true; },
             "neigh-suppress"},
        Rule{"NeighbourVlanSuppression", [](World& w) { w.port().bridgePort->neighVlanSuppress = true; },
             "neigh-suppress"}),
    [](const auto& parameter) { return parameter.param.name; });

TEST(Assemble, VlanDevicesAreNoPortsOfASwitchUnderneath) {
    World world;
    world.above().vlan.emplace();
    world.port().switchPort = world.above().switchPort = true;
    EXPECT_EQ(world.plan().reasons.size(), 1U);
}

TEST(Assemble, OwnProgramOnThePortIsNotForeign) {
    World world;
    world.port().xdp.driverProgram = 7;
    world.wishes.attached.insert(portIndex);
    EXPECT_TRUE(world.plan().profile);
}

TEST(Assemble, PortThatOnlyItsBridgeKeepsFromAProfileStandsBy) {
    World world;
    world.bridge().bridge->vlanFiltering = true;
    EXPECT_TRUE(world.plan().standby);
    world.wishes.paused.insert(portIndex);
    EXPECT_FALSE(world.plan().standby);
}

TEST(Assemble, PortThatOnlyItsSettingsKeepFromAProfileStandsBy) {
    World world;
    world.port().bridgePort->locked = true;
    EXPECT_TRUE(world.plan().standby);
    world.capabilities.inPlaceFdb.available = false;
    EXPECT_FALSE(world.plan().standby);
}

TEST(Assemble, EveryReasonIsGivenWhatTheOperatorWantedFirst) {
    World world;
    world.bridge().bridge->vlanFiltering = true;
    world.bridge().bridge->ageingTime = 0;
    world.port().bridgePort->locked = true;
    world.port().ethernet = false;
    world.wishes.paused.insert(portIndex);
    std::vector<std::string> codes;
    for (const auto& reason : world.plan().reasons)
        codes.push_back(reason.code);
    EXPECT_THAT(codes, ::testing::ElementsAre("paused", "not-ethernet", "vlans-not-proved", "no-ageing-time",
                                              "locked"));
}

TEST(Assemble, WhatCannotBeProvedIsNoMatterIfNothingLoads) {
    World world;
    world.capabilities.fastPath = {false, "the verifier is unhappy"};
    world.capabilities.inPlaceFdb = {false, "never tried"};
    const auto reasons = world.plan().reasons;
    ASSERT_EQ(reasons.size(), 1U);
    EXPECT_THAT(reasons.front().text, ::testing::HasSubstr("the verifier is unhappy"));
}

TEST(Assemble, EvidenceAgainstReadingInPlaceIsTold) {
    World world;
    world.capabilities.inPlaceFdb = {false, "entry 7 differs"};
    EXPECT_THAT(world.plan().reasons.front().text, ::testing::HasSubstr("entry 7 differs"));
}

TEST(Assemble, ReasonsNameThePortOrTheBridgeAndTheNextStep) {
    World world;
    world.wishes.allPaused = true;
    EXPECT_EQ(world.plan().reasons.front().hint, "tnactl resume eth0");
    world = {};
    world.port().xdp.driverProgram = 7;
    EXPECT_THAT(world.plan().reasons.front().hint, ::testing::HasSubstr("`ip link show eth0`"));
    world = {};
    world.bridge().bridge->vlanFiltering = true;
    EXPECT_THAT(world.plan().reasons.front().text, ::testing::HasSubstr("br0"));
}

TEST(Assemble, ReasonOfAnExclusionIsPassedOnAsItIs) {
    World world;
    const Reason reason{"excluded-kind", "because", "do this"};
    world.wishes.excluded[portIndex] = reason;
    EXPECT_EQ(world.plan().reasons, std::vector{reason});
}

TEST(Assemble, WhatHoldsForOnePortOrBridgeHoldsForNoOther) {
    World world;
    constexpr model::IfIndex otherBridge = 3;
    constexpr model::IfIndex otherPort = 4;
    world.network.links[otherBridge] = world.bridge();
    world.network.links[otherBridge].ifindex = otherBridge;
    world.network.links[otherBridge].bridge->vlanFiltering = true;
    auto& port = world.network.links[otherPort] = world.port();
    port.ifindex = otherPort;
    port.name = "eth1";
    port.master = otherBridge;
    port.xdp.driverProgram = 7;
    world.wishes.paused.insert(otherPort);
    world.wishes.excluded[otherPort] = {"excluded-name", "x", ""};
    const auto plan = assemble(world.network, world.capabilities, world.wishes);
    EXPECT_TRUE(plan.ports.at(portIndex).profile);
    EXPECT_TRUE(plan.ports.at(portIndex).egress);
    EXPECT_EQ(plan.ports.at(portIndex).name, "eth0");
    EXPECT_EQ(plan.ports.at(portIndex).ifindex, portIndex);
    EXPECT_FALSE(plan.ports.at(otherPort).profile);
    EXPECT_EQ(plan.ports.at(otherPort).name, "eth1");
}

TEST(Profile, PartsMakeTheName) {
    EXPECT_EQ((Profile{.modules = {bridgeModule()}, .veth = true, .brNetfilter = true}.name()),
              "bridge+veth+br_netfilter");
    EXPECT_EQ((Profile{.modules = {bridgeModule({.vlanProtocol = 0x8100})}}.name()), "bridge+vlan");
    EXPECT_EQ((Profile{.modules = {bridgeModule({.vlanProtocol = 0x88a8})}, .veth = true}.name()),
              "bridge+vlan-802.1ad+veth");
    EXPECT_EQ((Profile{.modules = {routeModule()}, .veth = true}.name()), "route+veth");
    EXPECT_EQ(Profile{}.name(), "none");
    EXPECT_TRUE(Profile{}.moduleNames().empty());
}

} // namespace
} // namespace tna::assemble
