// SPDX-License-Identifier: Apache-2.0
#include "namespace.hpp"

namespace tna::test {
namespace {

using model::Network;
using LinksOfNamespace = IntrospectTest;

TEST_F(LinksOfNamespace, AreReadAtOpenWithEverythingThatIpSet) {
    run("ip link add br0 type bridge ageing_time 12300 stp_state 1 priority 4096 group_fwd_mask 8 "
        "mcast_snooping 0 nf_call_iptables 1;"
        "ip link add v0 type veth peer name v1; ip link set v0 master br0 mtu 1400 address 02:00:00:00:00:11;"
        "ip link set br0 up; ip link set v0 up; ip link set v1 up");
    open();
    ASSERT_NE(link("br0"), nullptr);
    const auto& bridge = *link("br0");
    EXPECT_EQ(bridge.kind, "bridge");
    EXPECT_EQ(bridge.driver, "bridge");
    ASSERT_TRUE(bridge.bridge);
    EXPECT_EQ(bridge.bridge->ageingTime, 12300U);
    EXPECT_EQ(bridge.bridge->stpState, 1U);
    EXPECT_EQ(bridge.bridge->priority, 4096);
    EXPECT_EQ(bridge.bridge->groupFwdMask, 8);
    EXPECT_FALSE(bridge.bridge->mcastSnooping);
    EXPECT_TRUE(bridge.bridge->nfCallIptables);
    ASSERT_NE(link("v0"), nullptr);
    const auto& port = *link("v0");
    EXPECT_EQ(port.master, bridge.ifindex);
    EXPECT_EQ(port.mtu, 1400U);
    EXPECT_EQ(port.mac.text(), "02:00:00:00:00:11");
    EXPECT_EQ(port.driver, "veth");
    EXPECT_EQ(port.lower, link("v1")->ifindex);
    EXPECT_FALSE(port.lowerElsewhere);
    EXPECT_TRUE(port.up());
    EXPECT_TRUE(port.carrier);
    ASSERT_TRUE(port.bridgePort);
}

TEST_F(LinksOfNamespace, FollowEveryPortFlagSetWithBridge) {
    run("ip link add br0 up type bridge; ip link add v0 up type veth peer name v1;"
        "ip link set v1 up; ip link set v0 master br0");
    open();
    run("bridge link set dev v0 learning off flood off mcast_flood off bcast_flood off hairpin on guard on "
        "fastleave on neigh_suppress on isolated on locked on cost 77 priority 9 state 0");
    ASSERT_TRUE(eventually([&](const Network&) { return link("v0")->bridgePort->cost == 77; }));
    const auto& port = *link("v0")->bridgePort;
    EXPECT_FALSE(port.learning);
    EXPECT_FALSE(port.unicastFlood);
    EXPECT_FALSE(port.mcastFlood);
    EXPECT_FALSE(port.bcastFlood);
    EXPECT_TRUE(port.hairpin);
    EXPECT_TRUE(port.guard);
    EXPECT_TRUE(port.fastLeave);
    EXPECT_TRUE(port.neighSuppress);
    EXPECT_TRUE(port.isolated);
    EXPECT_TRUE(port.locked);
    EXPECT_EQ(port.priority, 9);
    EXPECT_EQ(port.state, model::StpState::disabled);
    EXPECT_TRUE(last_.links.contains(link("v0")->ifindex));
}

TEST_F(LinksOfNamespace, FollowBridgeOptionsSetThroughSysfsAndNetlink) {
    run("ip link add br0 up type bridge");
    open();
    run("ip link set br0 type bridge ageing_time 4500 stp_state 1");
    ASSERT_TRUE(eventually([&](const Network&) {
        return link("br0")->bridge->ageingTime == 4500 && link("br0")->bridge->stpState == 1;
    }));
    run("echo 8 > /sys/class/net/br0/bridge/group_fwd_mask");
    EXPECT_TRUE(eventually([&](const Network&) { return link("br0")->bridge->groupFwdMask == 8; }));
}

TEST_F(LinksOfNamespace, FollowMasterChanges) {
    run("ip link add br0 up type bridge; ip link add br1 up type bridge; ip link add v0 type veth peer name "
        "v1");
    open();
    EXPECT_FALSE(link("v0")->bridgePort);
    run("ip link set v0 master br0");
    ASSERT_TRUE(eventually([&](const Network&) {
        return link("v0")->master == link("br0")->ifindex && link("v0")->bridgePort;
    }));
    run("ip link set v0 nomaster; ip link set v0 master br1");
    ASSERT_TRUE(eventually([&](const Network&) { return link("v0")->master == link("br1")->ifindex; }));
    run("ip link set v0 nomaster");
    EXPECT_TRUE(
        eventually([&](const Network&) { return link("v0")->master == 0 && !link("v0")->bridgePort; }));
}

TEST_F(LinksOfNamespace, FollowVlansOfPortsAndOfTheBridge) {
    if (!tryRun("ip link add br0 up type bridge vlan_filtering 1"))
        GTEST_SKIP() << "this kernel's bridges know no VLANs";
    run("ip link add v0 up type veth peer name v1; ip link set v0 master br0");
    open();
    const std::vector<model::BridgeVlan> initial{{1, true, true}};
    EXPECT_EQ(link("v0")->bridgePort->vlans, initial);
    EXPECT_EQ(link("br0")->bridge->vlans, initial);
    run("bridge vlan add dev v0 vid 10-12; bridge vlan add dev v0 vid 20 pvid untagged;"
        "bridge vlan add dev br0 vid 30 self; bridge vlan del dev v0 vid 1");
    const std::vector<model::BridgeVlan> port{{10}, {11}, {12}, {20, true, true}};
    EXPECT_TRUE(eventually([&](const Network&) { return link("v0")->bridgePort->vlans == port; }));
    const std::vector<model::BridgeVlan> self{{1, true, true}, {30}};
    EXPECT_TRUE(eventually([&](const Network&) { return link("br0")->bridge->vlans == self; }));
    run("bridge vlan set dev v0 vid 11 state blocking");
    EXPECT_TRUE(eventually(
        [&](const Network&) { return link("v0")->bridgePort->vlans[1].state == model::StpState::blocking; }));
}

TEST_F(LinksOfNamespace, FollowVlanFilteringBeingSwitched) {
    run("ip link add br0 up type bridge");
    if (!tryRun("ip link set br0 type bridge vlan_filtering 1"))
        GTEST_SKIP() << "this kernel's bridges know no VLANs";
    run("ip link set br0 type bridge vlan_filtering 0 vlan_default_pvid 7");
    open();
    EXPECT_FALSE(link("br0")->bridge->vlanFiltering);
    EXPECT_EQ(link("br0")->bridge->vlanProtocol, 0x8100);
    EXPECT_EQ(link("br0")->bridge->defaultPvid, 7);
    run("ip link set br0 type bridge vlan_filtering 1 vlan_protocol 802.1ad vlan_default_pvid 0");
    ASSERT_TRUE(eventually([&](const Network&) { return link("br0")->bridge->vlanFiltering; }));
    EXPECT_EQ(link("br0")->bridge->vlanProtocol, 0x88a8);
    EXPECT_EQ(link("br0")->bridge->defaultPvid, 0);
    EXPECT_TRUE(link("br0")->bridge->vlans.empty());
    run("ip link set br0 type bridge vlan_filtering 0");
    EXPECT_TRUE(eventually([&](const Network&) { return !link("br0")->bridge->vlanFiltering; }));
}

TEST_F(LinksOfNamespace, FollowVlanDevicesOnPorts) {
    run("ip link add br0 up type bridge; ip link add v0 up type veth peer name v1; ip link set v0 master "
        "br0");
    if (!tryRun("ip link add link v0 name tagged type vlan id 10"))
        GTEST_SKIP() << "this kernel has no 802.1Q";
    open();
    ASSERT_TRUE(link("tagged")->vlan);
    EXPECT_EQ(link("tagged")->kind, "vlan");
    EXPECT_EQ(link("tagged")->lower, link("v0")->ifindex);
    EXPECT_EQ(*link("tagged")->vlan, (model::VlanDevice{0x8100, 10}));
    run("ip link add link br0 name service type vlan id 4094 protocol 802.1ad");
    ASSERT_TRUE(eventually([&](const Network&) { return link("service") != nullptr; }));
    EXPECT_EQ(link("service")->lower, link("br0")->ifindex);
    EXPECT_EQ(*link("service")->vlan, (model::VlanDevice{0x88a8, 4094}));
    run("ip link del tagged");
    EXPECT_TRUE(eventually([&](const Network&) { return link("tagged") == nullptr; }));
    EXPECT_TRUE(eventually([&](const Network& now) { return now.links == fresh().links; }));
}

TEST_F(LinksOfNamespace, FollowComingRenamingAndGoing) {
    open();
    run("ip link add v0 type veth peer name v1");
    ASSERT_TRUE(eventually([&](const Network&) { return link("v0") != nullptr && link("v1") != nullptr; }));
    const auto ifindex = link("v0")->ifindex;
    run("ip link set v0 name other");
    ASSERT_TRUE(eventually([&](const Network&) { return link("other") != nullptr; }));
    EXPECT_EQ(link("other")->ifindex, ifindex);
    EXPECT_EQ(link("v0"), nullptr);
    run("ip link del other");
    ASSERT_TRUE(eventually([&](const Network&) { return link("other") == nullptr; }));
    EXPECT_EQ(link("v1"), nullptr);
    EXPECT_TRUE(last_.links.contains(ifindex));
}

TEST_F(LinksOfNamespace, FollowPeersToOtherNamespacesAndBack) {
    const Namespace other;
    run("ip link add v0 type veth peer name v1");
    open();
    run("ip link set v1 netns " + other.name());
    ASSERT_TRUE(
        eventually([&](const Network&) { return link("v1") == nullptr && link("v0")->lowerElsewhere; }));
    ASSERT_TRUE(other.run("ip link set v1 netns " + ns_->name()));
    EXPECT_TRUE(eventually([&](const Network&) {
        return link("v1") != nullptr && !link("v0")->lowerElsewhere && !link("v1")->lowerElsewhere;
    }));
}

TEST_F(LinksOfNamespace, AreReadAgainWhenAnnouncementsWereLost) {
    introspect::Options options;
    options.receiveBuffer = 4096;
    open(options);
    run("for i in $(seq 1 60); do ip link add d$i type veth peer name p$i; done; ip link del d7");
    ASSERT_TRUE(eventually([&](const Network&) { return link("d60") != nullptr && link("d7") == nullptr; }));
    EXPECT_TRUE(last_.resynced);
    EXPECT_GE(introspector_->stats().overruns, 1U);
    EXPECT_TRUE(eventually([&](const Network& now) { return now == fresh(); }));
}

/// More than one call reads wait, and some were lost: those that wait are older than what is read then.
TEST_F(LinksOfNamespace, OldAnnouncementsUndoNothingThatWasReadAfterALoss) {
    run("ip link add v0 up type veth peer name v1");
    open();
    run("for i in $(seq 1 40000); do echo link set dev v0 alias a$i; done | ip -batch -;"
        "ip link set v0 mtu 1300");
    const auto changes = introspector_->process();
    ASSERT_TRUE(changes) << changes.error().sentence();
    ASSERT_GE(introspector_->stats().overruns, 1U);
    EXPECT_TRUE(changes->resynced);
    EXPECT_FALSE(changes->behind);
    EXPECT_EQ(link("v0")->mtu, 1300U);
    run("ip link set v0 mtu 1310");
    EXPECT_TRUE(eventually([&](const Network&) { return link("v0")->mtu == 1310; }));
}

TEST_F(LinksOfNamespace, AreSaidToBeBehindWhileAnnouncementsWait) {
    run("ip link add v0 up type veth peer name v1");
    introspect::Options options;
    options.receiveBuffer = std::size_t{256} * 1024 * 1024;
    open(options);
    run("for i in $(seq 1 40000); do echo link set dev v0 alias a$i; done | ip -batch -;"
        "ip link set v0 mtu 1300");
    auto changes = introspector_->process();
    ASSERT_TRUE(changes && changes->behind);
    EXPECT_NE(link("v0")->mtu, 1300U);
    changes = introspector_->process();
    ASSERT_TRUE(changes && !changes->behind);
    EXPECT_EQ(link("v0")->mtu, 1300U);
    EXPECT_EQ(introspector_->stats().overruns, 0U);
}

} // namespace
} // namespace tna::test
