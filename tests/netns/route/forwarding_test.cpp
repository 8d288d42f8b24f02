// SPDX-License-Identifier: Apache-2.0
#include "route_fixture.hpp"

#include <linux/if_ether.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

using Routing = AcceleratedRouteTest;

TEST_F(Routing, PacketsGoToTheHostBehindAnotherPort) {
    expectFast(packet());
    expectFast(packet({.to = "10.0.2.2"}), 2);
    expectFast(packet());
}

TEST_F(Routing, EverySourceAndDestinationIsItsOwn) {
    must("ip route add 10.9.0.0/16 via 10.0.1.2");
    for (unsigned i = 1; i < 200; i++)
        expectFast(packet({.to = "10.9.0." + std::to_string(i)}));
    expectFast(packet({.from = "10.0.0.77"}));
}

TEST_F(Routing, StatusAndGraphShowThePort) {
    expectFast(packet());
    const auto port = controller_->port("p0");
    ASSERT_TRUE(port);
    EXPECT_EQ((*port)["port"]["profile"], "route+veth");
    EXPECT_EQ((*port)["port"]["bridge"], nlohmann::json());
    EXPECT_EQ((*port)["port"]["fast_packets"], 1);
    EXPECT_EQ((*port)["features"][0]["feature"], "route");
    const auto graph = controller_->graph();
    EXPECT_TRUE(std::ranges::any_of(graph["nodes"], [](const auto& node) {
        return node["kind"] == "routed-port" && node["label"] == "p0";
    }));
}

TEST_F(Routing, WhoeverCapturesSeesEveryPacket) {
    expectCapturesToSee(packet(), ETH_P_IP);
}

/// As programs have them that speak LLDP (systemd-networkd), ARP, EAPOL.
TEST_F(Routing, SocketsOfOtherProtocolsAreNoReasonToBeSlow) {
    expectSocketsOfOthersNotToMatter(packet(), ETH_P_IP);
}

TEST_F(Routing, ListenersForDhcpAreNoReasonToBeSlow) {
    auto wanted = packet({.protocol = IPPROTO_UDP});
    wanted.bytes.at(36) = 0;
    wanted.bytes.at(37) = 68;
    expectListenersNotToMatter(packet(), ETH_P_IP, wanted);
}

/// Who listens to frames for groups hears what leaves for one.
TEST_F(Routing, NeighboursThatAreGroupsAreLinuxs) {
    for (const Mac group : {Mac{0x01, 0, 0x5e, 0, 0, 7}, Mac{0, 0xe0, 0x2b, 0, 0, 0}}) { // and that of EDP
        must("ip neigh replace 10.0.1.2 lladdr " + text(station(2)) + " dev p1 nud permanent");
        expectFast(packet());
        must("ip neigh replace 10.0.1.2 lladdr " + text(group) + " dev p1 nud permanent");
        for (int i = 0; i < 2; i++)
            EXPECT_EQ(treat(packet()), (Treatment{slowPath("multicast"),
                                                  {{1, {oneHopFurther(packet(), group, portMac(1))}}}}));
    }
}

TEST_F(Routing, CaptureElsewhereIsNoReasonToBeSlow) {
    const auto elsewhere = capture("p2", ETH_P_ALL);
    const auto leaving = capture("p1", ETH_P_IP);
    expectFast(packet());
}

TEST_F(Routing, PortThatGoesDownAndComesBack) {
    must("ip route add 10.0.1.0/24 via 10.0.2.2 metric 9");
    expectFast(packet());
    must("ip link set p1 down");
    EXPECT_EQ(treat(packet()), (Treatment{fastPath(), routedTo(packet(), 2)}));
    must("ip link set p1 up");
    must("ip neigh replace 10.0.1.2 lladdr " + text(station(2)) + " dev p1 nud permanent");
    EXPECT_TRUE(eventually([&] {
        return controller_->onNetlink() && treat(packet()) == Treatment{fastPath(), routedTo(packet())};
    }));
}

/// The far end pulls the plug: whatever becomes of the packet, it is Linux that decides.
TEST_F(Routing, PortWithoutCarrierIsLeftToLinux) {
    expectFast(packet());
    inFar("ip link set far1 down");
    const auto treated = treat(packet());
    EXPECT_EQ(treated.path.fast, 0U);
    EXPECT_EQ(treated.out, Arrivals{});
    inFar("ip link set far1 up");
    EXPECT_TRUE(eventually([&] { return treat(packet()) == Treatment{fastPath(), routedTo(packet())}; }));
}

TEST_F(Routing, PortOfAVrfIsLeftToLinux) {
    expectFast(packet());
    if (command({"ip", "link", "add", "vrf0", "type", "vrf", "table", "7"}).exitCode != 0)
        GTEST_SKIP() << "this kernel has no VRFs";
    must("ip link set vrf0 up");
    must("ip link set p0 master vrf0");
    EXPECT_EQ(treat(packet()).path.fast, 0U);
    pump();
    EXPECT_TRUE(reaches("p0", "linux"));
}

TEST_F(Routing, PortThatMovesAwayIsForgotten) {
    expectFast(packet());
    must("ip link set p0 netns " + farSide_->name());
    must("ip -n " + farSide_->name() + " link set p0 up");
    far(0).send(packet());
    EXPECT_EQ(arrivals(), Arrivals{});
}

TEST_F(Routing, UnmanagedPortGetsItsPacketsFromLinux) {
    must("ip link add q0 type veth peer name q1");
    must("ip link set q0 up");
    must("ip link set q1 up");
    must("ethtool -K q1 gro on");
    must("ip route add 10.9.0.0/16 dev q0");
    must("ip neigh add 10.9.0.1 lladdr " + text(station(9)) + " dev q0 nud permanent");
    EXPECT_EQ(treat(packet({.to = "10.9.0.1"})).path, slowPath("egress-unmanaged"));
}

} // namespace
} // namespace tna::test
