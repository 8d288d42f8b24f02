// SPDX-License-Identifier: Apache-2.0
// IPv6 packets that are routed to and from bridges. What bridges and their ports are told is the same as for
// IPv4 (bridge_conditions_test.cpp); here is what finds them, and what is different.
#include "bridged_route_fixture.hpp"

namespace tna::test {
namespace {

Condition one(const char* name, const std::string& set, const std::string& reason, const std::string& unset,
              std::vector<std::string> prepare = {}, std::size_t payload = 26) {
    return Route6Test::about({name, std::move(prepare), {set}, reason, {unset}}, {.payload = payload});
}

Condition chain(const char* name, const std::string& family, const std::string& hook,
                const std::string& reason) {
    return one(
        name, "nft add chain " + family + " t c '{ type filter hook " + hook + " priority 0; policy drop; }'",
        reason, "nft delete chain " + family + " t c", {"nft add table " + family + " t"});
}

Condition filter(const char* name, const std::string& device, const std::string& direction) {
    return one(
        name, "tc filter add dev " + device + " " + direction + " protocol all u32 match u32 0 0 flowid 1:1",
        "tc", "tc filter del dev " + device + " " + direction, {"tc qdisc add dev " + device + " clsact"});
}

Condition netdev(const char* name, const std::string& device, const std::string& hook) {
    return one(name,
               "nft add chain netdev t c '{ type filter hook " + hook + " device " + device +
                   " priority 0; policy drop; }'",
               "netdev-hook", "nft delete chain netdev t c", {"nft add table netdev t"});
}

TEST_F(FromBridge6, PacketsGoToTheHostBehindARoutedPort) {
    accelerate();
    expectFast(packet());
    expectFast(packet({.payload = 1452}));
    EXPECT_FALSE(controller_->port("br0")) << "its ports are what is accelerated";
}

TEST_F(FromBridge6, WhatIsForTheHostItselfGetsThere) {
    accelerate();
    EXPECT_EQ(treat(packet({.to = "fd00::1"})).path, slowPath("not-routed"));
}

TEST_F(FromBridge6, FrameOfAStationThatIsNotKnownGoesToLinuxWhichLearnsIt) {
    accelerate();
    auto frame = packet();
    const auto unknown = station(77);
    std::ranges::copy(unknown, frame.bytes.begin() + 6);
    EXPECT_EQ(treat(frame), (Treatment{slowPath("source-unknown"), routedTo(frame)}));
    EXPECT_EQ(treat(frame), (Treatment{fastPath(), routedTo(frame)}));
    EXPECT_EQ(treat(frame, 2), (Treatment{slowPath("source-unknown"), routedTo(frame)})) << "it has moved";
}

TEST_F(FromBridge6, BackToTheSameBridgeIsLeftToLinuxWhichTellsTheSender) {
    must("ip neigh replace fd00::9 lladdr " + text(station(3)) + " dev br0 nud permanent");
    accelerate();
    EXPECT_EQ(treat(packet({.to = "fd00::9"})).path, slowPath("same-device"));
}

TEST_F(FromBridge6, Conditions) {
    const auto sender = text(test::station(1));
    expectAllAsLinux(
        {one("SenderElsewhere", "bridge fdb replace " + sender + " dev p2 master static", "source-unknown",
             "bridge fdb replace " + sender + " dev p0 master static"),
         one("Listening", "bridge link set dev p0 state 1", "stp-state", "bridge link set dev p0 state 3"),
         one("CallIp6tables", "sysctl -qw net.bridge.bridge-nf-call-ip6tables=1", "br-netfilter",
             "sysctl -qw net.bridge.bridge-nf-call-ip6tables=0",
             {"sysctl net.bridge.bridge-nf-call-ip6tables"}),
         chain("BridgeInput", "bridge", "input", "bridge-netfilter"),
         chain("Prerouting", "ip6", "prerouting", "ip-netfilter"),
         chain("Forward", "ip6", "forward", "ip-netfilter"),
         chain("PreroutingOfIpv4", "ip", "prerouting", ""), filter("FilterOfThePort", "p0", "ingress"),
         filter("FilterOfTheBridge", "br0", "ingress"), netdev("HookOfThePort", "p0", "ingress"),
         netdev("HookOfTheBridge", "br0", "ingress")});
}

TEST_F(FromBridge6, DisabledOnTheBridge) {
    accelerate();
    must("ip address del fd00::1/64 dev br0");
    expectFast(packet());
    must("sysctl -qw net.ipv6.conf.br0.disable_ipv6=1");
    EXPECT_EQ(treat(packet()), (Treatment{slowPath("not-forwarding"), {}}));
}

TEST_F(ToBridge6, PacketsGoOutOfThePortBehindWhichTheNextHopIs) {
    accelerate();
    expectFast(packet());
    learnt(2, "p2");
    EXPECT_EQ(treat(packet()), (Treatment{fastPath(), {{2, {routed(packet())}}}}));
    learnt(2, "p1");
    expectFast(packet());
}

TEST_F(ToGroup6, PacketsGoToAllPorts) {
    expectAllPortsToGetIt(packet(), "fd00:0:0:1::2");
}

TEST_F(ToBridge6, Conditions) {
    const auto host = text(test::station(2));
    const std::string usual = "ip link set br1 mtu 1500 && ip link set p1 mtu 1500";
    expectAllAsLinux({one("Unknown", "bridge fdb del " + host + " dev p1 master", "unknown-unicast",
                          "bridge fdb replace " + host + " dev p1 master static"),
                      one("Learning", "bridge link set dev p1 state 2", "egress-stp-state",
                          "bridge link set dev p1 state 3"),
                      filter("FilterOfThePort", "p1", "egress"), filter("FilterOfTheBridge", "br1", "egress"),
                      netdev("HookOfThePort", "p1", "egress"), netdev("HookOfTheBridge", "br1", "egress"),
                      chain("BridgeOutput", "bridge", "output", "bridge-netfilter"),
                      one("BridgeTooSmall", "ip link set br1 mtu 1300", "route-mtu", usual, {}, 1400),
                      one("PortTooSmall", "ip link set p1 mtu 1300", "egress-mtu", usual,
                          {"ip link set br1 mtu 1480 && ip link set br1 mtu 1500"}, 1400)});
}

TEST_F(FromBridgeToBridge6, PacketsGoFromOneBridgeToTheOther) {
    accelerate();
    expectFast(packet());
    expectFast(packet({.payload = 1452}));
    learnt(2, "p2");
    EXPECT_EQ(treat(packet()), (Treatment{fastPath(), {{2, {routed(packet())}}}}));
}

/// Each protocol has what it remembers in a place of its own.
TEST_F(FromBridgeToBridge6, BothProtocolsAtOnce) {
    sysctl("net.ipv4.ip_forward", "1");
    for (unsigned i = 0; i < 2; i++)
        RouteTest::becomes("br" + std::to_string(i), i);
    accelerate();
    const auto four = RouteTest::packet();
    for (unsigned i = 0; i < 2; i++) {
        expectFast(packet());
        expectFast(four);
    }
}

/// br_netfilter hooks into the routing of both protocols wherever there has been a bridge.
TEST_F(Route6Test, BridgesThatDoNotRouteAreNoReasonToBeSlow) {
    must("ip link add br7 type bridge");
    must("ip link set br7 up");
    accelerate();
    expectFast(packet());
}

} // namespace
} // namespace tna::test
