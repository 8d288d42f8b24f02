// SPDX-License-Identifier: Apache-2.0
// Bridges with addresses: packets that are routed to and from their ports.
#include "bridged_route_fixture.hpp"

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

TEST_F(FromBridge, PacketsGoToTheHostBehindARoutedPort) {
    accelerate();
    expectFast(packet());
    expectFast(packet());
    EXPECT_EQ((*controller_->port("p0"))["port"]["profile"].get<std::string>().substr(0, 12), "bridge+route");
    EXPECT_EQ((*controller_->port("p1"))["port"]["profile"].get<std::string>().substr(0, 13),
              "route+bridges");
    EXPECT_FALSE(controller_->port("br0")) << "its ports are what is accelerated";
}

TEST_F(FromBridge, FramesToOtherPortsOfTheBridgeAreBridged) {
    learnt(3, "p2");
    accelerate();
    const auto frame = FrameBuilder().ethernet(station(3), station(1)).udp();
    expectFast(packet());
    EXPECT_EQ(treat(frame), (Treatment{fastPath(), {{2, {frame}}}}));
    expectFast(packet());
}

TEST_F(FromBridge, WhatIsForTheHostItselfGetsThere) {
    accelerate();
    EXPECT_EQ(treat(packet({.to = "10.0.0.1"})).path, slowPath("not-routed"));
    const auto other = FrameBuilder().ethernet(portMac(0), station(1)).etherType(0x88b5).raw(46);
    EXPECT_EQ(treat(other), (Treatment{slowPath("local"), {}}));
}

TEST_F(FromBridge, GenericXdpProgramOfTheBridgeSeesWhatIsRouted) {
    accelerate();
    expectFast(packet());
    whileItDropsAll("br0", [&] { EXPECT_EQ(treat(packet()), (Treatment{slowPath("generic-xdp"), {}})); });
    expectFast(packet());
}

TEST_F(FromBridge, FramesForThePortsOwnAddressAreLeftToLinux) {
    auto frame = packet();
    const auto own = station(0x200);
    std::ranges::copy(own, frame.bytes.begin());
    const auto linux = treat(frame).out;
    accelerate();
    EXPECT_EQ(treat(frame), (Treatment{slowPath("local"), linux}));
}

TEST_F(FromBridge, FrameOfAStationThatIsNotKnownGoesToLinuxWhichLearnsIt) {
    accelerate();
    auto frame = packet();
    const auto unknown = station(77);
    std::ranges::copy(unknown, frame.bytes.begin() + 6);
    EXPECT_EQ(treat(frame), (Treatment{slowPath("source-unknown"), routedTo(frame)}));
    EXPECT_EQ(treat(frame), (Treatment{fastPath(), routedTo(frame)}));
    EXPECT_EQ(treat(frame, 2), (Treatment{slowPath("source-unknown"), routedTo(frame)})) << "it has moved";
    EXPECT_EQ(treat(frame), (Treatment{slowPath("source-unknown"), routedTo(frame)})) << "and back";
}

TEST_F(FromBridge, LinuxSeesASenderNowAndThen) {
    accelerate();
    expectFast(packet());
    must("ip link set br0 type bridge ageing_time 6400"); // a sixty-fourth of which is a second
    pump();
    EXPECT_TRUE(eventually([&] { return treat(packet()).path == fastPath(); }));
    EXPECT_TRUE(eventually([&] { return treat(packet()).path == slowPath("refresh"); }));
    EXPECT_TRUE(eventually([&] { return treat(packet()).path == fastPath(); }));
}

TEST_F(FromBridge, BridgeWithAnotherMacAddress) {
    accelerate();
    expectFast(packet());
    must("ip link set br0 address " + text(station(0x300)));
    EXPECT_EQ(treat(packet()).path.fast, 0U);
    pump();
    auto frame = packet();
    const auto address = station(0x300);
    std::ranges::copy(address, frame.bytes.begin());
    EXPECT_EQ(treat(frame), (Treatment{fastPath(), routedTo(frame)}));
}

TEST_F(FromBridge, PortThatLeavesTheBridge) {
    accelerate();
    expectFast(packet());
    must("ip link set p0 nomaster");
    EXPECT_EQ(treat(packet()), (Treatment{slowPath("not-a-bridge-port"), {}}));
    pump();
    must("ip link set p0 master br0");
    EXPECT_TRUE(eventually([&] {
        return controller_->onNetlink() && treat(packet()) == Treatment{fastPath(), routedTo(packet())};
    }));
}

TEST_F(FromBridge, BridgeThatFiltersVlansFromNowOn) {
    accelerate();
    expectFast(packet());
    if (command({"ip", "link", "set", "br0", "type", "bridge", "vlan_filtering", "1"}).exitCode != 0)
        GTEST_SKIP() << "this kernel's bridges do not filter VLANs";
    EXPECT_EQ(treat(packet()), (Treatment{slowPath("bridge-options"), routedTo(packet())}));
    EXPECT_TRUE(eventually([&] {
        return controller_->onNetlink() && treat(packet()) == Treatment{fastPath(), routedTo(packet())};
    })) << "all are in VLAN 1, without a tag";
}

class CapturesAtBridges : public FromBridgeToBridge {
protected:
    static UniqueFd capture(const std::string& interface, int protocol) {
        UniqueFd fd{::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)};
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(static_cast<std::uint16_t>(protocol));
        address.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
        EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
        return fd;
    }
};

TEST_F(CapturesAtBridges, WhoeverCapturesSeesEveryPacket) {
    accelerate();
    struct Case {
        std::string interface;
        int protocol;
        bool sees;
    };
    for (const auto& [interface, protocol, sees] :
         {Case{"p0", ETH_P_ALL, true}, Case{"br0", ETH_P_ALL, true}, Case{"br1", ETH_P_ALL, true},
          Case{"p1", ETH_P_ALL, true}, Case{"br0", ETH_P_IP, true}, Case{"p0", ETH_P_IP, false},
          Case{"br1", ETH_P_IP, false}, Case{"p2", ETH_P_ALL, false}}) {
        SCOPED_TRACE(interface + " " + std::to_string(protocol));
        expectFast(packet());
        const auto socket = capture(interface, protocol);
        EXPECT_EQ(treat(packet()), (Treatment{sees ? slowPath("capture") : fastPath(), routedTo(packet())}));
        std::array<char, 2048> buffer{};
        EXPECT_EQ(::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT) > 0, sees);
    }
}

TEST_F(ToBridge, PacketsGoOutOfThePortBehindWhichTheNextHopIs) {
    accelerate();
    expectFast(packet());
    learnt(2, "p2");
    EXPECT_EQ(treat(packet()), (Treatment{fastPath(), {{2, {routed(packet())}}}}));
    learnt(2, "p1");
    expectFast(packet());
}

TEST_F(ToGroup, PacketsGoToAllPorts) {
    expectAllPortsToGetIt(packet(), "10.0.1.2");
}

/// A backup port takes the place of one that has lost its carrier.
TEST_F(ToBridge, PortWithoutCarrierIsLeftToLinux) {
    if (command({"bridge", "link", "set", "dev", "p1", "backup_port", "p2"}).exitCode != 0)
        GTEST_SKIP() << "no backup ports";
    accelerate();
    expectFast(packet());
    inFar("ip link set far1 down");
    EXPECT_EQ(treat(packet()).path.fast, 0U);
    inFar("ip link set far1 up");
    EXPECT_TRUE(eventually([&] { return treat(packet()) == Treatment{fastPath(), routedTo(packet())}; }));
}

TEST_F(FromBridgeToBridge, PacketsGoFromOneBridgeToTheOther) {
    accelerate();
    expectFast(packet());
    expectFast(packet({.payload = 1472}));
    learnt(2, "p2");
    EXPECT_EQ(treat(packet()), (Treatment{fastPath(), {{2, {routed(packet())}}}}));
}

TEST_F(FromBridge, BackToTheSameBridgeIsLeftToLinuxWhichTellsTheSender) {
    learnt(3, "p2");
    must("ip neigh replace 10.0.0.9 lladdr " + text(station(3)) + " dev br0 nud permanent");
    accelerate();
    EXPECT_EQ(treat(packet({.to = "10.0.0.9"})).path, slowPath("same-device"));
}

} // namespace
} // namespace tna::test
