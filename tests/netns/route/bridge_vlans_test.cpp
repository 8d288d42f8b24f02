// SPDX-License-Identifier: Apache-2.0
// Bridges that filter VLANs and have addresses, and VLAN devices on bridges.
#include "bridge_vlan_fixture.hpp"

namespace tna::test {
namespace {

template <typename Router>
class VlansOfABridge : public BridgeVlans<Router> {};
using Protocols = ::testing::Types<RouteTest, Route6Test>;
TYPED_TEST_SUITE(VlansOfABridge, Protocols);

TYPED_TEST(VlansOfABridge, PacketsGoFromOneToAnother) {
    this->interVlan();
    const auto packet = TypeParam::packet();
    const auto out = [&](const Frame& frame) { return Arrivals{{1, {tagged(this->further(frame), 20)}}}; };
    this->atLast(tagged(packet, 10), out(packet));
    this->accelerate();
    for (unsigned i = 0; i < 2; i++)
        this->expectFastTo(tagged(packet, 0xf000 | 10), out(packet)); // the priority is not taken along
    const auto large = TypeParam::packet({.payload = 1452});
    this->expectFastTo(tagged(large, 10), out(large));
    auto padded = tagged(packet, 10);
    padded.bytes.resize(padded.bytes.size() + 9);
    this->expectFastTo(padded, out(packet));
    EXPECT_FALSE(this->controller_->port("v0")) << "the bridge's ports are what is accelerated";
    EXPECT_FALSE(this->controller_->port("br0"));
}

/// Ports for hosts that know nothing of VLANs.
TYPED_TEST(VlansOfABridge, PortsWithoutTags) {
    this->interVlan();
    this->part("p0", 10, "pvid untagged");
    this->part("p1", 20, "pvid untagged");
    const auto packet = TypeParam::packet();
    const Arrivals out{{1, {this->further(packet)}}};
    this->expectFastAsLinux(packet, out);
    this->expectFastTo(tagged(packet, 10), out);
    this->expectFastTo(tagged(packet, 0xe000), out); // a priority, but no VLAN
    // payload of VLAN 10
    EXPECT_EQ(this->treat(tagged(packet, 10, 0x88a8)), (Treatment{slowPath("not-ip"), {}}));
    this->part("p1", 20);
    this->expectFastTo(packet, {{1, {tagged(this->further(packet), 20)}}});
}

/// A port that carries all VLANs.
TYPED_TEST(VlansOfABridge, PacketsGoBackOutOfTheirPort) {
    this->interVlan();
    this->known(2, "p0", 20);
    const auto packet = TypeParam::packet();
    const Arrivals out{{0, {tagged(this->further(packet), 20)}}};
    this->expectFastAsLinux(tagged(packet, 10), out);
}

/// The bridge has the addresses itself, and is in one VLAN; p2 is a router's port beside it.
TYPED_TEST(VlansOfABridge, PacketsComeInByTheBridgeItself) {
    this->bridge();
    this->part("p0", 10);
    this->part("br0", 10, "self pvid untagged");
    this->becomes("br0", 0);
    const auto packet = TypeParam::packet({.to = this->hostBehind(2)});
    const Arrivals out{{2, {this->routed(packet, 2)}}};
    this->expectFastAsLinux(tagged(packet, 10), out);
    this->part("p0", 10, "pvid untagged");
    this->expectFastTo(packet, out);
}

TYPED_TEST(VlansOfABridge, PacketsLeaveByTheBridgeItself) {
    this->bridge();
    this->part("p1", 20);
    this->part("br0", 20, "self pvid untagged");
    this->becomes("br0", 1);
    this->known(2, "p1", 20);
    auto packet = TypeParam::packet({.from = this->hostBehind(2)});
    this->comesInBy(2, packet);
    const Arrivals out{{1, {tagged(this->further(packet), 20)}}};
    this->expectFastAsLinux(packet, out, 2);
    this->part("p1", 20, "untagged");
    EXPECT_EQ(this->treat(packet, 2), (Treatment{fastPath(), {{1, {this->further(packet)}}}}));
    must("bridge vlan add vid 20 dev br0 self untagged"); // no longer the PVID: the bridge drops
    EXPECT_EQ(this->treat(packet, 2).path.fast, 0U);
}

TYPED_TEST(VlansOfABridge, RoutedPortsSendToThem) {
    this->interVlan();
    auto packet = TypeParam::packet({.from = this->hostBehind(2)});
    this->comesInBy(2, packet);
    const Arrivals out{{1, {tagged(this->further(packet), 20)}}};
    this->expectFastAsLinux(packet, out, 2);
    must("ip link set br0 type bridge vlan_protocol 802.1ad"); // the device's tag is payload now
    EXPECT_EQ(this->treat(packet, 2), (Treatment{slowPath("vlan-settings"), {}}));
    must("ip link set br0 type bridge vlan_protocol 802.1q");
    this->expectFastTo(packet, out, 2);
    must("ip link set br0 type bridge vlan_filtering 0"); // the station is known in VLAN 20 only
    EXPECT_EQ(this->treat(packet, 2).path, slowPath("unknown-unicast"));
    must("ip link set br0 type bridge vlan_filtering 1");
    this->expectFastTo(packet, out, 2);
}

class VlansOfAPlainBridge : public BridgeVlans<RouteTest> {};

/// The source has a route by the device that the tag is for, not by the other one.
TEST_F(VlansOfAPlainBridge, EachTagIsJudgedByItsOwnDevice) {
    bridge("");
    above(0, 10);
    above(1, 20);
    known(2, "p1", 0);
    must("ip link add link br0 name other type vlan id 11");
    must("ip link set other up");
    for (const char* device : {"v0", "other"})
        must("sysctl -qw net.ipv4.conf." + std::string(device) + ".rp_filter=1");
    const Arrivals out{{1, {tagged(further(packet()), 20)}}};
    atLast(tagged(packet(), 10), out);
    EXPECT_EQ(treat(tagged(packet(), 11)).out, Arrivals{});
    accelerate();
    for (unsigned i = 0; i < 2; i++) {
        expectFastTo(tagged(packet(), 10), out);
        for (unsigned j = 0; j < 2; j++) // what was found about the first is nothing for the second
            EXPECT_EQ(treat(tagged(packet(), 11)), (Treatment{slowPath("reverse-path"), {}}));
    }
}

TYPED_TEST(VlansOfABridge, TagsOfServiceProviders) {
    this->bridge("vlan_filtering 1 vlan_default_pvid 0 vlan_protocol 802.1ad");
    for (const unsigned vid : {10U, 20U}) {
        this->part("p0", vid);
        this->part("p1", vid);
        this->part("br0", vid, "self");
    }
    this->above(0, 10, " protocol 802.1ad");
    this->above(1, 20, " protocol 802.1ad");
    this->known(2, "p1", 20);
    const auto packet = TypeParam::packet();
    const Arrivals out{{1, {tagged(this->further(packet), 20, 0x88a8)}}};
    this->expectFastAsLinux(tagged(packet, 10, 0x88a8), out);
    EXPECT_EQ(this->treat(tagged(packet, 10)).path.fast, 0U);
}

/// A bridge that takes tags for payload, but whose own frames go to VLAN devices all the same.
TYPED_TEST(VlansOfABridge, OnABridgeThatDoesNotFilter) {
    this->bridge("");
    this->above(0, 10);
    this->above(1, 20, " protocol 802.1ad");
    this->known(2, "p1", 0);
    const auto packet = TypeParam::packet();
    const Arrivals out{{1, {tagged(this->further(packet), 20, 0x88a8)}}};
    this->atLast(tagged(packet, 10), out);
    this->accelerate();
    for (unsigned i = 0; i < 2; i++)
        this->expectFastTo(tagged(packet, 0x6000 | 10), out);
    EXPECT_EQ(this->treat(tagged(packet, 11)).path.fast, 0U);
}

/// The same packet with another tag, or none, is another one.
TYPED_TEST(VlansOfABridge, EachTagIsAVlanOfItsOwn) {
    this->interVlan();
    const auto packet = TypeParam::packet();
    this->atLast(tagged(packet, 10), {{1, {tagged(this->further(packet), 20)}}});
    this->part("p0", 30);
    this->part("br0", 30, "self"); // without a VLAN device
    this->part("p0", 40);
    this->part("p0", 50);
    this->part("br0", 50, "self");
    must("ip link add link br0 name other type vlan id 50");
    must("ip link set other up");
    std::vector<Frame> frames{packet, tagged(packet, 0)};
    for (const unsigned vid : {20U, 30U, 40U, 50U, 60U, 0x1000U})
        frames.push_back(tagged(packet, vid));
    frames.push_back(tagged(tagged(packet, 7), 10));
    frames.push_back(tagged(packet, 10, 0x88a8));
    std::vector<Arrivals> linux;
    for (const auto& frame : frames)
        linux.push_back(this->treat(frame).out);
    this->accelerate();
    for (std::size_t i = 0; i < frames.size(); i++) {
        this->expectFastTo(tagged(packet, 10), {{1, {tagged(this->further(packet), 20)}}});
        EXPECT_EQ(this->treat(frames[i]).out, linux[i]) << i;
    }
}

TYPED_TEST(VlansOfABridge, CutAtEachLength) {
    this->interVlan();
    const auto packet = TypeParam::packet({.payload = 1});
    const auto whole = tagged(packet, 10);
    this->expectOnlyWholeIsFast(whole, {{1, {tagged(this->further(packet), 20)}}});
}

} // namespace
} // namespace tna::test
