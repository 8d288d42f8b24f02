// SPDX-License-Identifier: Apache-2.0
// What is known of drivers and kinds of devices, and what follows for ports.
#include "assemble/devices.hpp"

#include "world.hpp"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

namespace tna::assemble {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> codes(const PortPlan& plan) {
    std::vector<std::string> out;
    for (const auto& reason : plan.reasons)
        out.push_back(reason.code);
    return out;
}

std::string egressCode(const PortPlan& plan) {
    return plan.egressReason ? plan.egressReason->code : "";
}

World worldOf(const std::string& kind, const std::string& driver) {
    World world;
    world.port().kind = kind;
    world.port().driver = driver;
    return world;
}

void expectLeftToLinux(const World& world, const std::string& code) {
    const auto plan = world.plan();
    EXPECT_FALSE(plan.profile) << code;
    EXPECT_FALSE(plan.egress) << code;
    EXPECT_THAT(codes(plan), ::testing::ElementsAre(code));
    EXPECT_EQ(egressCode(plan), code);
}

TEST(Devices, DriverThatNobodyHasReadIsLinuxs) {
    auto world = worldOf("", "nic-of-tomorrow");
    expectLeftToLinux(world, "not-known-safe");
    EXPECT_THAT(world.plan().reasons.front().text, HasSubstr("nic-of-tomorrow"));
    EXPECT_THAT(world.plan().reasons.front().hint, HasSubstr("trusted_drivers"));
}

TEST(Devices, KindThatNobodyHasReadIsLinuxsWhateverItsDriverIsCalled) {
    expectLeftToLinux(worldOf("wire", "ixgbe"), "not-known-safe");
}

TEST(Devices, DeviceWithoutDriverIsLinuxs) {
    expectLeftToLinux(worldOf("", ""), "not-known-safe");
}

TEST(Devices, ThatAreNotKnownAreAllowedByName) {
    auto world = worldOf("", "nic-of-tomorrow");
    world.wishes.trusted.insert(portIndex);
    EXPECT_TRUE(world.plan().profile);
    EXPECT_TRUE(world.plan().egress);
    EXPECT_FALSE(world.plan().egressReason);
}

TEST(Devices, WithoutXdpAreLinuxsForThatReason) {
    auto world = worldOf("", "e1000e");
    world.capabilities.devices[portIndex].native = false;
    EXPECT_THAT(codes(world.plan()), ::testing::ElementsAre("no-native-xdp"));
    EXPECT_FALSE(world.plan().egress);
}

TEST(Devices, VethWithFewerQueuesThanItsPeerSaysSo) {
    World world;
    world.port().kind = world.port().driver = "veth";
    world.capabilities.devices[portIndex].native = false;
    const auto plan = world.plan();
    ASSERT_EQ(plan.reasons.size(), 1U);
    EXPECT_THAT(plan.reasons.front().text, ::testing::HasSubstr("fewer receive queues than its peer"));
    EXPECT_THAT(plan.reasons.front().hint, ::testing::HasSubstr("ethtool -L eth0 rx"));
}

TEST(Devices, TapIsNeitherReceivedFromNorSentToByDefault) {
    const auto world = worldOf("tun", "tun");
    const auto plan = world.plan();
    EXPECT_THAT(codes(plan), ::testing::ElementsAre("unfinished-frames"));
    EXPECT_FALSE(plan.egress);
    EXPECT_EQ(egressCode(plan), "send-skips");
    EXPECT_THAT(plan.egressReason->text, HasSubstr("TUNSETTXFILTER"));
}

TEST(Devices, TapIsReceivedFromIfItsSendersFinishFrames) {
    auto world = worldOf("tun", "tun");
    world.wishes.finished.insert(portIndex);
    EXPECT_TRUE(world.plan().profile);
    EXPECT_FALSE(world.plan().egress);
}

TEST(Devices, TapIsSentToIfItIsTrusted) {
    auto world = worldOf("tun", "tun");
    world.wishes.trusted.insert(portIndex);
    EXPECT_FALSE(world.plan().profile) << "that its senders finish frames is another promise";
    EXPECT_TRUE(world.plan().egress);
}

TEST(Devices, SendersInOtherMachinesMayLeaveWorkAlsoWhereTheKernelIsReadInPlace) {
    for (const auto* driver : {"vif", "hv_netvsc", "vmxnet3", "mana"})
        EXPECT_THAT(codes(worldOf("", driver).plan()), ::testing::ElementsAre("unfinished-frames")) << driver;
}

TEST(Devices, VethIsAPortWhoseOtherEndIsNothingBelow) {
    auto world = worldOf("veth", "veth");
    world.port().lower = 9;
    EXPECT_TRUE(world.plan().profile);
    EXPECT_TRUE(world.plan().egress);
}

TEST(Devices, FacesOfOthersAreLinuxsAndCannotBeTrusted) {
    for (const auto* kind :
         {"bond", "team", "macvlan", "macvtap", "ipvlan", "vlan", "vxlan", "dummy", "ifb"}) {
        auto world = worldOf(kind, kind);
        world.wishes.trusted.insert(portIndex);
        world.wishes.finished.insert(portIndex);
        expectLeftToLinux(world, "stacked");
    }
}

/// There, Linux itself receives and sends.
TEST(Devices, BondsAndTheirLikeAreForTcx) {
    for (const auto* kind : {"bond", "team", "vlan", "net_failover"}) {
        auto world = worldOf(kind, kind);
        world.capabilities.tcx = {true, "it is there"};
        EXPECT_THAT(world.plan().reasons.front().hint, HasSubstr("'tcx'")) << kind;
        EXPECT_FALSE(world.plan().tcxEgress && world.plan().egress) << kind;
        world.wishes.atTcx = {portIndex};
        EXPECT_TRUE(world.plan().profile) << kind;
        EXPECT_TRUE(world.plan().tcxEgress) << kind;
        EXPECT_FALSE(world.plan().egress) << kind;
    }
}

/// Whoever puts packets into packets tells senders of those that are too large, by their route.
TEST(Devices, FacesOfTunnelsAreNotForTcx) {
    for (const auto& [below, allowed] : {std::pair{"", true},
                                         {"veth", true},
                                         {"dummy", true},
                                         {"vlan", true},
                                         {"gretap", false},
                                         {"macvlan", false},
                                         {"from-tomorrow", false}}) {
        auto world = worldOf("bond", "bond");
        world.capabilities.tcx = {true, "it is there"};
        world.wishes.atTcx = {portIndex};
        auto& member = world.above();
        member.master = portIndex;
        member.lower = 0;
        member.kind = below;
        EXPECT_EQ(world.plan().profile.has_value(), allowed) << below;
        EXPECT_EQ(world.plan().tcxEgress, allowed) << below;

        auto onTop = worldOf("vlan", "vlan"); // of one that is made of it
        onTop.capabilities.tcx = {true, "it is there"};
        onTop.wishes.atTcx = {portIndex};
        onTop.port().lower = 7;
        onTop.network.links[7] = {.ifindex = 7, .name = "bond0", .kind = "bond"};
        onTop.network.links[8] = {.ifindex = 8, .name = "below", .kind = below, .master = 7};
        EXPECT_EQ(onTop.plan().profile.has_value(), allowed) << below;
        if (!allowed) {
            EXPECT_THAT(onTop.plan().reasons.front().text, HasSubstr("below it sends")) << below;
        }
    }
}

TEST(Devices, FacesOfMoreThanIsLookedAtAreNotForTcx) {
    auto world = worldOf("vlan", "vlan");
    world.capabilities.tcx = {true, "it is there"};
    world.wishes.atTcx = {portIndex};
    for (model::IfIndex index = portIndex; index < portIndex + 6; index++) {
        world.network.links[index].kind = "vlan";
        world.network.links[index].lower = index + 1;
        world.network.links[index + 1].ifindex = index + 1;
    }
    EXPECT_FALSE(world.plan().profile);
}

TEST(Devices, OtherFacesAreNotForTcxEither) {
    for (const auto* kind : {"macvlan", "vxlan", "wireguard", "dummy", "netkit"}) {
        auto world = worldOf(kind, kind);
        world.capabilities.tcx = {true, "it is there"};
        world.wishes.atTcx = {portIndex};
        expectLeftToLinux(world, "stacked");
        EXPECT_FALSE(world.plan().tcxEgress) << kind;
        EXPECT_EQ(world.plan().reasons.front().hint, "") << kind;
    }
}

/// The card of a virtual machine under Hyper-V, whose virtual function receives for it.
TEST(Devices, CardWithAVirtualFunctionIsForTcx) {
    auto world = worldOf("", "hv_netvsc");
    world.capabilities.tcx = {true, "it is there"};
    world.above().master = portIndex;
    world.above().lower = 0;
    expectLeftToLinux(world, "stacked");
    world.wishes.atTcx = {portIndex};
    EXPECT_TRUE(world.plan().profile);
    EXPECT_TRUE(world.plan().tcxEgress);
}

TEST(Devices, DeviceWithMembersIsAFaceOfThese) {
    World world;
    world.above().master = portIndex;
    world.above().lower = 0;
    world.above().name = "vf0";
    expectLeftToLinux(world, "stacked");
    EXPECT_THAT(world.plan().reasons.front().text, HasSubstr("vf0"));
}

TEST(Devices, DeviceOnAnotherIsAFaceOfThat) {
    World world;
    world.port().lower = 9;
    world.wishes.trusted.insert(portIndex);
    expectLeftToLinux(world, "stacked");
}

TEST(Devices, PortsOfABridgeAreNoMembersOfIt) {
    World world;
    EXPECT_FALSE(judge(world.network, model::Layers(world.network), world.port(), {}, true).ingress);
}

TEST(Devices, ShortestFrameIsThatOfTheDriver) {
    EXPECT_EQ(World().plan().shortest, 0U);
    EXPECT_EQ(worldOf("", "bnxt_en").plan().shortest, 52U);
}

TEST(Devices, AreEachInTheListOnce) {
    std::set<std::string> names;
    for (const auto& device : knownDevices()) {
        EXPECT_FALSE(device.received.empty() || device.sent.empty());
        EXPECT_EQ(device.receive == Receive::never, device.send == Send::never);
        for (const auto& name : device.names)
            EXPECT_TRUE(names.insert(name).second) << name;
    }
}

TEST(Devices, AreDocumentedAsTheListHasThem) {
    std::ifstream file(TNA_SOURCE_DIR "/docs/devices.md");
    const std::string page{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(page, HasSubstr(devicesAsMarkdown())) << "docs/devices.md is to have:\n"
                                                      << devicesAsMarkdown();
}

TEST(Refusals, NothingIsRedirectedToAPortWhoseDriverHasRefusedFrames) {
    World world;
    world.wishes.refused[portIndex] = {"egress-refused", "it has refused some", "mend it"};
    const auto plan = world.plan();
    EXPECT_TRUE(plan.profile) << "that is about the other direction";
    EXPECT_FALSE(plan.egress);
    EXPECT_EQ(plan.egressReason, world.wishes.refused[portIndex]);
}

TEST(Refusals, WhereTheyCannotBeSeenOnlyVethIsRedirectedTo) {
    World world;
    world.wishes.refusalsUnseen = "no tracepoint";
    world.port().kind = "veth";
    EXPECT_TRUE(world.plan().egress);
    world.port().kind = "";
    world.port().driver = "ixgbe";
    const auto plan = world.plan();
    EXPECT_FALSE(plan.egress);
    ASSERT_TRUE(plan.egressReason);
    EXPECT_EQ(plan.egressReason->code, "refusals-unseen");
}

} // namespace
} // namespace tna::assemble
