// SPDX-License-Identifier: Apache-2.0
#include "route_fixture.hpp"

#include <linux/if_ether.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

using Routing6 = AcceleratedRoute6Test;

TEST_F(Routing6, PacketsGoToTheHostBehindAnotherPort) {
    expectFast(packet());
    expectFast(packet({.to = "fd00:0:0:2::2"}), 2);
    expectFast(packet());
}

TEST_F(Routing6, EverySourceAndDestinationIsItsOwn) {
    must("ip -6 route add fd09::/16 via fd00:0:0:1::2");
    must("ip -6 route add fd09:7::/32 via fd00:0:0:2::2");
    const auto hex = [](unsigned number) { return fmt::format("{:x}", number); };
    for (unsigned i = 1; i < 200; i++) {
        expectFast(packet({.to = "fd09::" + hex(i)}));
        expectFast(packet({.to = "fd09:7:" + hex(i) + "::1"}), 2);
        expectFast(packet({.to = "fd09:" + hex(i + 7) + "::1"}));
    }
    // Two that have one place in the cache.
    must("ip -6 route add local fd09:8::1/128 dev lo");
    for (unsigned i = 0; i < 2; i++) {
        expectFast(packet({.to = "fd09:8::2:0:11"}));
        EXPECT_EQ(treat(packet({.to = "fd09:8::1"})).path, slowPath("not-routed"));
    }
    for (const char* from : {"fd00::77", "fd00:0:0:77::2", "fd77::2", "2001:db8::2"})
        expectFast(packet({.from = from}));
}

/// Deep below each other in the kernel's trie, each with an address on either side of its last bit.
TEST_F(Routing6, PrefixesOfAllLengths) {
    must("ip -6 route add default via fd00:0:0:1::2");
    for (unsigned length = 17; length <= 128; length++) {
        std::array<unsigned, 8> groups{0xfd0a, 0, 0, 0, 0, 0, 0, 0};
        groups[(length - 1) / 16] |= 0x8000U >> ((length - 1) % 16);
        std::string address;
        for (const auto group : groups)
            address += fmt::format("{}{:x}", address.empty() ? "" : ":", group);
        must(fmt::format("ip -6 route add {}/{} via fd00:0:0:{}::2", address, length, 1 + length % 2));
        expectFast(packet({.to = address}), 1 + length % 2);
        expectFast(packet({.to = "fd0a::"}));
    }
}

TEST_F(Routing6, PortThatAPacketComesInByIsCounted) {
    const auto byAnother = ipv6Frame(portMac(2), station(3));
    const auto back = ipv6Frame(portMac(1), station(2));
    for (unsigned i = 0; i < 2; i++) {
        expectFast(packet());
        EXPECT_EQ(treat(byAnother, 2), (Treatment{fastPath(), routedTo(byAnother)}));
        EXPECT_EQ(treat(back, 1).path, slowPath("same-device"));
    }
}

TEST_F(Routing6, StatusAndGraphShowThePort) {
    expectFast(packet());
    const auto port = controller_->port("p0");
    ASSERT_TRUE(port);
    EXPECT_EQ((*port)["port"]["profile"], "route+veth");
    EXPECT_EQ((*port)["port"]["fast_packets"], 1);
    EXPECT_EQ((*port)["port"]["state"], "accelerated");
}

/// Where no IPv4 address is, IPv6 is enough.
TEST_F(Routing6, PortsWithoutIpv4AddressesAreAccelerated) {
    for (const char* port : {"p0", "p1", "p2"})
        must(std::string("ip -4 address flush dev ") + port);
    pump();
    EXPECT_TRUE(reaches("p0", "accelerated"));
    expectFast(packet());
}

TEST_F(Routing6, WhoeverCapturesSeesEveryPacket) {
    expectCapturesToSee(packet(), ETH_P_IPV6);
}

/// As programs have them that speak LLDP (systemd-networkd), ARP, EAPOL.
TEST_F(Routing6, SocketsOfOtherProtocolsAreNoReasonToBeSlow) {
    expectSocketsOfOthersNotToMatter(packet(), ETH_P_IPV6);
}

TEST_F(Routing6, ListenersForDhcpAreNoReasonToBeSlow) {
    expectListenersNotToMatter(packet(), ETH_P_IPV6, {});
}

TEST_F(Routing6, NeighboursThatAreGroupsAreLinuxs) {
    const Mac group{0x01, 0, 0x5e, 0, 0, 7};
    expectFast(packet());
    must("ip neigh replace fd00:0:0:1::2 lladdr " + text(group) + " dev p1 nud permanent");
    for (int i = 0; i < 2; i++)
        EXPECT_EQ(treat(packet()),
                  (Treatment{slowPath("multicast"), {{1, {oneHopFurther(packet(), group, portMac(1))}}}}));
}

TEST_F(Routing6, CaptureElsewhereIsNoReasonToBeSlow) {
    const auto elsewhere = capture("p2", ETH_P_ALL);
    const auto leaving = capture("p1", ETH_P_IPV6);
    expectFast(packet());
}

TEST_F(Routing6, PortThatGoesDownAndComesBack) {
    must("ip -6 route add fd00:0:0:1::/64 via fd00:0:0:2::2 metric 2048");
    expectFast(packet());
    must("ip link set p1 down");
    EXPECT_EQ(treat(packet()), (Treatment{fastPath(), routedTo(packet(), 2)}));
    must("ip link set p1 up");
    must("ip address add fd00:0:0:1::1/64 dev p1 nodad");
    must("ip neigh replace fd00:0:0:1::2 lladdr " + text(station(2)) + " dev p1 nud permanent");
    EXPECT_TRUE(eventually([&] {
        return controller_->onNetlink() && treat(packet()) == Treatment{fastPath(), routedTo(packet())};
    }));
}

/// The far end pulls the plug: whatever becomes of the packet, it is Linux that decides.
TEST_F(Routing6, PortWithoutCarrierIsLeftToLinux) {
    expectFast(packet());
    inFar("ip link set far1 down");
    const auto treated = treat(packet());
    EXPECT_EQ(treated.path.fast, 0U);
    EXPECT_EQ(treated.out, Arrivals{});
    inFar("ip link set far1 up");
    EXPECT_TRUE(eventually([&] { return treat(packet()) == Treatment{fastPath(), routedTo(packet())}; }));
}

TEST_F(Routing6, RouteThatExpires) {
    must("ip -6 route add fd09::/16 via fd00:0:0:1::2 expires 2");
    must("ip -6 route add default via fd00:0:0:2::2");
    const auto frame = packet({.to = "fd09::1"});
    expectFast(frame);
    const auto expired = [] {
        return command({"ip", "-6", "route", "get", "fd09::1"}).output.contains("via fd00:0:0:2::2");
    };
    ASSERT_TRUE(eventually(expired, std::chrono::seconds(20))) << "the route does not expire";
    EXPECT_EQ(treat(frame).out, routedTo(frame, 2));
}

/// A host on the way tells the router that its own packets are too large: that is about all packets.
TEST_F(Routing6, WhatIcmpHasToldOfARoute) {
    must("ip -6 route add fd09::/16 via fd00:0:0:1::2");
    const auto large = packet({.to = "fd09::1", .payload = 1400});
    expectFast(large);
    auto told = ipv6Frame(portMac(1), station(2),
                          {.from = "fd00:0:0:1::2", .to = "fd00:0:0:1::1", .next = 58, .payload = 8 + 48});
    const auto about =
        ipv6Frame({}, {}, {.from = "fd00:0:0:1::1", .to = "fd09::1", .next = 58, .payload = 8});
    auto* icmp = &told.bytes[14 + 40];
    std::ranges::fill_n(icmp, 8, std::uint8_t{0});
    std::copy(about.bytes.begin() + 14, about.bytes.end(), icmp + 8);
    icmp[0] = 2;    // packet too big
    icmp[6] = 0x05; // for 1280 bytes
    icmp[8 + 40] = 128;
    const auto checksum = internetChecksum(&told.bytes[14 + 8], 32 + 8 + 48, 8 + 48 + 58);
    icmp[2] = static_cast<std::uint8_t>(checksum >> 8U);
    icmp[3] = static_cast<std::uint8_t>(checksum);
    (void)treat(told, 1);
    const auto treated = treat(large);
    EXPECT_EQ(treated.path, slowPath("special-route"));
    EXPECT_FALSE(treated.out.contains(1)) << "Linux goes on";
}

TEST_F(Routing6, BothProtocolsAtOnce) {
    sysctl("net.ipv4.ip_forward", "1");
    const auto four = RouteTest::packet();
    expectFast(packet());
    expectFast(four);
    expectFast(packet());
}

} // namespace
} // namespace tna::test
