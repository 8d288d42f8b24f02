// SPDX-License-Identifier: Apache-2.0
// Where the kernel is not read in place: what the guards would have seen there, from what netlink said.
#include "assemble/watched.hpp"
#include "world.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <tna/fastpath.h>

namespace tna::assemble {
namespace {

constexpr model::IfIndex otherIndex = 3;

/// A world in which nothing is read in place, and two ports may send and receive the fast way.
struct Scene : World {
    Scene() {
        port().driver = "ixgbe";
        port().flags = model::link_flag::up;
        port().carrier = true;
        port().mtu = 1500;
        port().promiscuity = 1;
        port().rootQdisc = "mq";
        port().queues = {{"mq", {}}, {"pfifo_fast", {}}};
        port().bridgePort->state = model::StpState::forwarding;
        auto link = port();
        link.ifindex = otherIndex;
        link.name = "lan1";
        network.links.emplace(otherIndex, link);
        capabilities.way = capability::Way::watched;
        capabilities.inPlaceFdb.available = false;
        capabilities.devices[otherIndex] = capabilities.devices[portIndex];
        wishes.underVlanDevices.emplace();
    }
    model::Link& other() { return network.links.at(otherIndex); }
    void hook(const char* family, const char* where, const char* device = "") {
        network.netfilter.hooks.push_back({family, "t", "c", where, device});
    }
};

struct Rule {
    const char* name;
    std::function<void(Scene&)> change;
    unsigned ingress = TNA_REASON_COUNT;
    unsigned egress = TNA_REASON_COUNT;
};
void PrintTo(const Rule& rule, std::ostream* out) {
    *out << rule.name;
}
constexpr unsigned none = TNA_REASON_COUNT;

class Watched : public ::testing::TestWithParam<Rule> {};

TEST_P(Watched, PortIsLeftToLinuxForTheReason) {
    Scene scene;
    GetParam().change(scene);
    const auto plan = scene.plan();
    ASSERT_TRUE(plan.watched);
    EXPECT_EQ(plan.watched->ingressReason, GetParam().ingress);
    EXPECT_EQ(plan.watched->egressReason, GetParam().egress);
    EXPECT_TRUE(plan.profile) << "the program stays, the table says no";
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Watched,
    ::testing::Values(
        Rule{"Nothing", [](Scene&) {}},
        Rule{"CaptureOnAllLinks", [](Scene& s) { s.network.captures = {0}; }, TNA_REASON_CAPTURE,
             TNA_REASON_CAPTURE},
        Rule{"CaptureOnThePort", [](Scene& s) { s.network.captures = {portIndex}; }, TNA_REASON_CAPTURE,
             TNA_REASON_CAPTURE},
        Rule{"CaptureOnAnotherPort", [](Scene& s) { s.network.captures = {otherIndex}; }},
        Rule{"IngressFilter", [](Scene& s) { s.port().ingressFilters = 1; }, TNA_REASON_TC, none},
        Rule{"EgressFilter", [](Scene& s) { s.port().egressFilters = 1; }, none, TNA_REASON_TC},
        Rule{"TcxAtIngress", [](Scene& s) { s.wishes.tcxIngress = {portIndex}; }, TNA_REASON_TC, none},
        Rule{"TcxAtEgress", [](Scene& s) { s.wishes.tcxEgress = {portIndex}; }, none, TNA_REASON_TC},
        Rule{"NetdevIngress", [](Scene& s) { s.hook("netdev", "ingress", "eth0"); }, TNA_REASON_NETDEV_HOOK,
             none},
        Rule{"NetdevEgress", [](Scene& s) { s.hook("netdev", "egress", "eth0"); }, none,
             TNA_REASON_NETDEV_HOOK},
        Rule{"InetIngress", [](Scene& s) { s.hook("inet", "ingress", "eth0"); }, TNA_REASON_NETDEV_HOOK,
             none},
        Rule{"NetdevIngressByPrefix", [](Scene& s) { s.hook("netdev", "ingress", "eth"); },
             TNA_REASON_NETDEV_HOOK, none},
        Rule{"NetdevIngressOfAnother", [](Scene& s) { s.hook("netdev", "ingress", "lan1"); }},
        Rule{"NfCallOfTheBridge", [](Scene& s) { s.bridge().bridge->nfCallIptables = true; },
             TNA_REASON_BRIDGE_OPTIONS, none},
        Rule{"NfCallIp6OfTheBridge", [](Scene& s) { s.bridge().bridge->nfCallIp6tables = true; },
             TNA_REASON_BRIDGE_OPTIONS, none},
        Rule{"NfCallArpOfTheBridge", [](Scene& s) { s.bridge().bridge->nfCallArptables = true; },
             TNA_REASON_BRIDGE_OPTIONS, none},
        Rule{"VlanStatistics",
             [](Scene& s) { s.bridge().bridge->vlanFiltering = s.bridge().bridge->vlanStats = true; },
             TNA_REASON_BRIDGE_OPTIONS, none},
        Rule{"VlanStatisticsWithoutVlans", [](Scene& s) { s.bridge().bridge->vlanStats = true; }},
        Rule{"VlanFiltering", [](Scene& s) { s.bridge().bridge->vlanFiltering = true; }},
        Rule{"SpanningTreesOfVlans", [](Scene& s) { s.bridge().bridge->multiOptions = 4; },
             TNA_REASON_BRIDGE_OPTIONS, none},
        Rule{"UnknownBridgeOption", [](Scene& s) { s.bridge().bridge->multiOptions = 64; },
             TNA_REASON_BRIDGE_OPTIONS, none},
        Rule{"HarmlessBridgeOption", [](Scene& s) { s.bridge().bridge->multiOptions = 1; }},
        Rule{"RedundancyRing", [](Scene& s) { s.wishes.ringBridges = {bridgeIndex}; },
             TNA_REASON_BRIDGE_OPTIONS, none},
        Rule{"RedundancyRingOfAnotherBridge", [](Scene& s) { s.wishes.ringBridges = {otherIndex}; }},
        Rule{"NeighbourSuppressionElsewhere", [](Scene& s) { s.other().bridgePort->neighSuppress = true; },
             TNA_REASON_BRIDGE_OPTIONS, none},
        Rule{"PromiscuousBridge", [](Scene& s) { s.bridge().promiscuity = 1; }, TNA_REASON_BRIDGE_PROMISC,
             none},
        Rule{"BridgePromiscuousWithoutAWord", [](Scene& s) { s.wishes.promiscuousBridges = {bridgeIndex}; },
             TNA_REASON_BRIDGE_PROMISC, none},
        Rule{"AnotherBridgePromiscuousWithoutAWord",
             [](Scene& s) { s.wishes.promiscuousBridges = {otherIndex}; }},
        Rule{"BridgePrerouting", [](Scene& s) { s.hook("bridge", "prerouting"); }, TNA_REASON_NETFILTER,
             none},
        Rule{"BridgeForward", [](Scene& s) { s.hook("bridge", "forward"); }, TNA_REASON_NETFILTER, none},
        Rule{"BridgePostrouting", [](Scene& s) { s.hook("bridge", "postrouting"); }, TNA_REASON_NETFILTER,
             none},
        Rule{"BridgeInput", [](Scene& s) { s.hook("bridge", "input"); }},
        Rule{"RulesOfTheBridgeFamily", [](Scene& s) { s.network.netfilter.bridgeRules = 1; },
             TNA_REASON_NETFILTER, none},
        Rule{"Ebtables", [](Scene& s) { s.capabilities.ebtables = true; }, TNA_REASON_NETFILTER, none},
        Rule{"CallIptables", [](Scene& s) { s.network.sysctls["net.bridge.bridge-nf-call-iptables"] = "1"; },
             TNA_REASON_BR_NETFILTER, none},
        Rule{"CallIp6tables",
             [](Scene& s) { s.network.sysctls["net.bridge.bridge-nf-call-ip6tables"] = "1"; },
             TNA_REASON_BR_NETFILTER, none},
        Rule{"CallNothing", [](Scene& s) { s.network.sysctls["net.bridge.bridge-nf-call-iptables"] = "0"; }},
        Rule{"Blocked", [](Scene& s) { s.port().bridgePort->state = model::StpState::blocking; },
             TNA_REASON_PORT_STATE, TNA_REASON_EGRESS_STATE},
        Rule{"LearningOff", [](Scene& s) { s.port().bridgePort->learning = false; }, TNA_REASON_PORT_FLAGS,
             none},
        Rule{"Locked", [](Scene& s) { s.port().bridgePort->locked = true; }, TNA_REASON_PORT_FLAGS,
             TNA_REASON_EGRESS_FLAGS},
        Rule{"MacAuthenticationBypass", [](Scene& s) { s.port().bridgePort->mab = true; },
             TNA_REASON_PORT_FLAGS, TNA_REASON_EGRESS_FLAGS},
        Rule{"VlanTunnel", [](Scene& s) { s.port().bridgePort->vlanTunnel = true; }, TNA_REASON_PORT_FLAGS,
             TNA_REASON_EGRESS_FLAGS},
        Rule{"NeighbourSuppression", [](Scene& s) { s.port().bridgePort->neighSuppress = true; },
             TNA_REASON_BRIDGE_OPTIONS, TNA_REASON_EGRESS_FLAGS},
        Rule{"NeighbourVlanSuppression", [](Scene& s) { s.port().bridgePort->neighVlanSuppress = true; },
             TNA_REASON_BRIDGE_OPTIONS, TNA_REASON_EGRESS_FLAGS},
        Rule{"LockedElsewhere", [](Scene& s) { s.other().bridgePort->locked = true; }},
        Rule{"Down", [](Scene& s) { s.port().flags = 0; }, none, TNA_REASON_EGRESS_DOWN},
        Rule{"NoCarrier", [](Scene& s) { s.port().carrier = false; }, none, TNA_REASON_EGRESS_DOWN},
        Rule{"ShapingRoot", [](Scene& s) { s.port().rootQdisc = "tbf"; }, none, TNA_REASON_EGRESS_QDISC},
        Rule{"ShapingLeaf", [](Scene& s) { s.port().queues = {{"mq", {}}, {"sfq", {}}}; }, none,
             TNA_REASON_EGRESS_QDISC},
        Rule{"FilterOfADiscipline", [](Scene& s) { s.port().queueFilters = 1; }, none,
             TNA_REASON_EGRESS_QDISC},
        Rule{"NoRedirectTarget", [](Scene& s) { s.capabilities.devices[portIndex].redirectTarget = false; },
             none, TNA_REASON_EGRESS_REDIRECT},
        Rule{"PausedOther", [](Scene& s) { s.wishes.paused = {otherIndex}; }}),
    [](const auto& parameter) { return parameter.param.name; });

TEST(WatchedPort, HasWhatTheFastPathCompares) {
    Scene scene;
    scene.port().bridgePort->isolated = true;
    const auto watched = *scene.plan().watched;
    EXPECT_EQ(watched.bridge, bridgeIndex);
    EXPECT_EQ(watched.maxFrame, 1500U + 14 + 4);
    EXPECT_TRUE(watched.isolated);
    EXPECT_TRUE(watched.learns);
    EXPECT_EQ(watched.refresh, scene.wishes.refresh) << "less than a 64th of the ageing time";
    EXPECT_FALSE(watched.needsProgram);
}

TEST(WatchedPort, IsRefreshedInAPartOfTheAgeingTime) {
    Scene scene;
    scene.wishes.refresh = std::chrono::hours(1);
    EXPECT_EQ(scene.plan().watched->refresh, std::chrono::nanoseconds(std::chrono::seconds(300)) / 64);
}

TEST(WatchedPort, RefreshesFasterWhileTheTopologyChanges) {
    Scene scene;
    scene.bridge().bridge->topologyChange = true;
    EXPECT_EQ(scene.plan().watched->refresh, std::chrono::nanoseconds(std::chrono::seconds(15)) / 64);
}

std::uint64_t partOf(const WatchedPort& port, unsigned vid) {
    return port.vlans.at(vid / TNA_VLANS_IN_WORD) >> 2 * (vid % TNA_VLANS_IN_WORD) & 3U;
}

TEST(WatchedPort, HasItsPartInEachVlanOfABridgeThatFilters) {
    Scene scene;
    using enum model::StpState;
    scene.bridge().bridge->vlanProtocol = 0x88a8;
    scene.port().bridgePort->vlans = {{.vid = 1, .pvid = true, .untagged = true, .state = forwarding},
                                      {.vid = 31, .state = learning},
                                      {.vid = 32, .untagged = true, .state = blocking},
                                      {.vid = 33, .state = listening},
                                      {.vid = 34, .state = disabled},
                                      {.vid = 4094, .state = forwarding}};
    EXPECT_EQ(scene.plan().watched->vlanProtocol, 0);
    EXPECT_EQ(scene.plan().watched->pvid, 0);
    EXPECT_EQ(scene.plan().watched->vlans, VlanParts{});
    scene.bridge().bridge->vlanFiltering = true;
    const auto watched = *scene.plan().watched;
    EXPECT_EQ(watched.vlanProtocol, 0x88a8);
    EXPECT_EQ(watched.pvid, 1);
    EXPECT_EQ(partOf(watched, 1), unsigned{TNA_VLAN_UNTAGGED});
    EXPECT_EQ(partOf(watched, 31), unsigned{TNA_VLAN_LEARNS});
    EXPECT_EQ(partOf(watched, 4094), unsigned{TNA_VLAN_TAGGED});
    for (const unsigned vid : {0, 2, 30, 32, 33, 34, 4093, 4095})
        EXPECT_EQ(partOf(watched, vid), unsigned{TNA_VLAN_NONE}) << vid;
}

TEST(WatchedPort, TaggedFramesAreLinuxsWhereAVlanDeviceMayWantThem) {
    Scene scene;
    EXPECT_EQ(scene.plan().watched->tagReason, none);
    scene.wishes.underVlanDevices = {otherIndex};
    EXPECT_EQ(scene.plan().watched->tagReason, none);
    scene.wishes.underVlanDevices = {portIndex};
    EXPECT_EQ(scene.plan().watched->tagReason, unsigned{TNA_REASON_VLAN_DEVICE});
    scene.wishes.underVlanDevices.reset();
    EXPECT_EQ(scene.plan().watched->tagReason, unsigned{TNA_REASON_TAGGED});
}

TEST(WatchedPort, LearnsInTheLearningStateAndNotWhileBlocked) {
    Scene scene;
    scene.port().bridgePort->state = model::StpState::learning;
    EXPECT_TRUE(scene.plan().watched->learns);
    scene.port().bridgePort->state = model::StpState::blocking;
    EXPECT_FALSE(scene.plan().watched->learns);
}

TEST(WatchedPort, LocalSendersKeepAPortWithLinuxUnlessPromised) {
    Scene scene;
    scene.port().kind = scene.port().driver = "veth";
    scene.port().vlanRxOffload = true;
    auto plan = scene.plan();
    EXPECT_FALSE(plan.profile);
    ASSERT_THAT(plan.reasons, ::testing::SizeIs(1));
    EXPECT_EQ(plan.reasons[0].code, "unfinished-frames");
    EXPECT_EQ(plan.watched->egressReason, none) << "it takes frames all the same";
    scene.wishes.finished = {portIndex};
    EXPECT_TRUE(scene.plan().profile);
}

TEST(WatchedPort, DriverThatTakesTagsOutOfFramesKeepsAPortWithLinux) {
    Scene scene;
    scene.port().vlanRxOffload = true;
    const auto plan = scene.plan();
    ASSERT_THAT(plan.reasons, ::testing::SizeIs(1));
    EXPECT_EQ(plan.reasons[0].code, "vlan-offload");
}

TEST(WatchedPort, DriverThatTakesServiceTagsOutOfFramesKeepsAPortWithLinux) {
    Scene scene;
    scene.port().serviceTagRxOffload = true;
    const auto plan = scene.plan();
    ASSERT_THAT(plan.reasons, ::testing::SizeIs(1));
    EXPECT_EQ(plan.reasons[0].code, "vlan-offload");
    EXPECT_EQ(plan.reasons[0].hint, "`ethtool -K eth0 rx-vlan-stag-hw-parse off`");
    scene.port().kind = scene.port().driver = "veth";
    scene.wishes.finished = {portIndex};
    EXPECT_TRUE(scene.plan().profile) << "its hidden tags are seen, or promised not to be";
}

TEST(WatchedPort, WithoutTheKernelsWordAPortNeedsAProgramAndAVethAPromise) {
    Scene scene;
    scene.capabilities.driversTell = false;
    EXPECT_TRUE(scene.plan().watched->needsProgram);
    EXPECT_EQ(scene.plan().watched->egressReason, none);
    scene.port().kind = scene.port().driver = "veth";
    EXPECT_EQ(scene.plan().watched->egressReason, unsigned{TNA_REASON_EGRESS_REDIRECT});
    scene.wishes.finished = {portIndex};
    EXPECT_EQ(scene.plan().watched->egressReason, none);
}

TEST(WatchedPort, NothingIsWatchedWhereTheKernelIsReadInPlace) {
    Scene scene;
    scene.capabilities.way = capability::Way::inPlace;
    scene.capabilities.inPlaceFdb.available = true;
    EXPECT_FALSE(scene.plan().watched);
    EXPECT_EQ(scene.plan().profile->name(), "bridge");
    scene.capabilities.way = capability::Way::watched;
    EXPECT_EQ(scene.plan().profile->name(), "bridge+watched");
}

} // namespace
} // namespace tna::assemble
