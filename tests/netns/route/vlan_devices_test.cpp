// SPDX-License-Identifier: Apache-2.0
// VLAN devices on ports: packets that come in with a tag, or leave with one.
#include "vlan_route_fixture.hpp"

#include <linux/if_ether.h>

namespace tna::test {
namespace {

template <typename Router>
class VlanDevices : public Vlans<Router> {};
using Protocols = ::testing::Types<RouteTest, Route6Test>;
TYPED_TEST_SUITE(VlanDevices, Protocols);

TYPED_TEST(VlanDevices, PacketsComeInWithATag) {
    this->vlan(0, "p0", "id 100");
    const auto packet = TypeParam::packet();
    this->expectFastAsLinux(tagged(packet, 100), this->routedTo(packet));
    const auto large = TypeParam::packet({.payload = 1452});
    this->expectFastTo(tagged(large, 100), this->routedTo(large));
    auto padded = tagged(packet, 0xf000 | 100); // the highest priority, and the drop eligible indicator
    padded.bytes.resize(padded.bytes.size() + 9);
    this->expectFastTo(padded, this->routedTo(packet));
    EXPECT_FALSE(this->controller_->port("v0")) << "its port is what is accelerated";
}

TYPED_TEST(VlanDevices, PacketsLeaveWithATag) {
    this->vlan(1, "p1", "id 200");
    const auto packet = TypeParam::packet();
    const auto out = [&](const Frame& frame) { return Arrivals{{1, {tagged(this->routed(frame), 200)}}}; };
    this->expectFastAsLinux(packet, out(packet));
    const auto large = TypeParam::packet({.payload = 1452});
    this->expectFastTo(large, out(large));
    auto padded = packet;
    padded.bytes.resize(padded.bytes.size() + 9);
    this->expectFastTo(padded, out(packet));
}

TYPED_TEST(VlanDevices, TagsAreRewritten) {
    this->vlan(0, "p0", "id 100");
    this->vlan(1, "p1", "id 4094");
    const auto packet = TypeParam::packet();
    const Arrivals out{{1, {tagged(this->routed(packet), 4094)}}};
    this->atLast(tagged(packet, 100), out);
    this->accelerate();
    for (unsigned i = 0; i < 2; i++)
        this->expectFastTo(tagged(packet, 0x6000 | 100), out);
}

/// A router with one port: both VLAN devices are on it.
TYPED_TEST(VlanDevices, PacketsGoBackOutOfTheirPortWithAnotherTag) {
    this->vlan(0, "p0", "id 100");
    this->vlan(1, "p0", "id 200");
    this->becomes("p1", 9); // or it would be no router's port
    const auto packet = TypeParam::packet();
    const Arrivals out{{0, {tagged(this->routed(packet), 200)}}};
    this->expectFastAsLinux(tagged(packet, 100), out);
}

using VlanDevice = Vlans<RouteTest>;

/// With the same tag: as long as Linux does not tell the sender of a better way.
TEST_F(VlanDevice, PacketsGoBackOutOfIt) {
    vlan(0, "p0", "id 100");
    must("ip neigh replace 10.0.0.9 lladdr " + text(station(7)) + " dev v0 nud permanent");
    for (const char* device : {"all", "v0"})
        must(std::string("sysctl -qw net.ipv4.conf.") + device + ".send_redirects=0");
    const auto packet = tagged(RouteTest::packet({.to = "10.0.0.9"}), 100);
    const Arrivals out{
        {0, {tagged(oneHopFurther(RouteTest::packet({.to = "10.0.0.9"}), station(7), portMac(0)), 100)}}};
    expectFastAsLinux(packet, out);
    sysctl("net.ipv4.conf.v0.send_redirects", "1");
    EXPECT_EQ(treat(packet).path, slowPath("same-device"));
    sysctl("net.ipv4.conf.v0.send_redirects", "0");
    expectFastTo(packet, out);
}

TYPED_TEST(VlanDevices, TagsOfServiceProviders) {
    this->vlan(0, "p0", "id 100 protocol 802.1ad");
    this->vlan(1, "p1", "id 200 protocol 802.1ad");
    const auto packet = TypeParam::packet();
    const Arrivals out{{1, {tagged(this->routed(packet), 200, 0x88a8)}}};
    this->expectFastAsLinux(tagged(packet, 100, 0x88a8), out);
    EXPECT_EQ(this->treat(tagged(packet, 100)), (Treatment{slowPath("not-ip"), {}}));
}

/// The same packet with another tag, or none, is another one.
TYPED_TEST(VlanDevices, EachTagIsADeviceOfItsOwn) {
    this->vlan(0, "p0", "id 100");
    const auto packet = TypeParam::packet();
    this->atLast(tagged(packet, 100), this->routedTo(packet));
    must("ip link add link p0 name other type vlan id 101");
    std::vector<Frame> frames{packet, tagged(packet, 101), tagged(packet, 102), tagged(packet, 0)};
    frames.push_back(tagged(tagged(packet, 7), 100));
    frames.push_back(tagged(packet, 100, 0x88a8));
    frames.push_back(tagged(packet, 0x1000));
    std::vector<Arrivals> linux;
    for (const auto& frame : frames)
        linux.push_back(this->treat(frame).out);
    this->accelerate();
    for (std::size_t i = 0; i < frames.size(); i++) {
        this->expectFastTo(tagged(packet, 100), this->routedTo(packet));
        const auto treated = this->treat(frames[i]);
        EXPECT_EQ(treated.out, linux[i]) << i;
        EXPECT_EQ(treated.path.fast, i == 0 ? 1U : 0U) << i; // without a tag, the port receives it
    }
}

TYPED_TEST(VlanDevices, CutAtEachLength) {
    this->vlan(0, "p0", "id 100");
    const auto packet = TypeParam::packet({.payload = 1});
    const auto whole = tagged(packet, 100);
    this->expectOnlyWholeIsFast(whole, this->routedTo(packet));
}

class FromVlan : public FromVlanOf<RouteTest> {
protected:
    static Condition one(const char* name, const std::string& set, const std::string& reason,
                         const std::string& unset, std::vector<std::string> prepare = {}) {
        return {name, std::move(prepare), {set}, reason, {unset}, in()};
    }
};

class ToVlan : public ToVlanOf<RouteTest> {
protected:
    static Condition one(const char* name, const std::string& set, const std::string& reason,
                         const std::string& unset, std::vector<std::string> prepare = {},
                         std::size_t payload = 26) {
        return {name, std::move(prepare), {set}, reason, {unset}, packet({.payload = payload})};
    }
};

TEST_F(FromVlan, Conditions) {
    const std::string macvlan = "ip link add link v0 name mv0 type macvlan && ip link set mv0 up";
    std::vector<Condition> conditions{
        one("Down", "ip link set v0 down", "vlan-settings",
            "ip link set v0 up && ip neigh replace 10.0.0.2 lladdr " + text(station(1)) +
                " dev v0 nud permanent"),
        one("TagsStay", "ip link set v0 type vlan reorder_hdr off", "vlan-settings",
            "ip link set v0 type vlan reorder_hdr on"),
        one("Priorities", "ip link set v0 type vlan ingress-qos-map 0:3 egress-qos-map 0:3",
            atTcx() ? "vlan-settings" : "",
            "ip link set v0 type vlan ingress-qos-map 0:0 egress-qos-map 0:0"),
        one("NoForwarding", "sysctl -qw net.ipv4.conf.v0.forwarding=0", "not-forwarding",
            "sysctl -qw net.ipv4.conf.v0.forwarding=1"),
        one("NoForwardingOnThePort", "sysctl -qw net.ipv4.conf.p0.forwarding=0", "",
            "sysctl -qw net.ipv4.conf.p0.forwarding=1"),
        one("StrictReversePath", "sysctl -qw net.ipv4.conf.v0.rp_filter=1", "",
            "sysctl -qw net.ipv4.conf.v0.rp_filter=0"),
        one("AnotherMacAddress", "ip link set v0 address 02:00:00:00:09:09", "other-station",
            "ip link set v0 address " + text(portMac(0)) + " && ip neigh replace 10.0.0.2 lladdr " +
                text(station(1)) + " dev v0 nud permanent"),
        one("Macvlan", macvlan, "stacked", "ip link del mv0", {macvlan + " && ip link del mv0"})};
    for (const char* device : {"p0", "v0"})
        for (auto& condition : filters(in(), device, "ingress"))
            conditions.push_back(std::move(condition));
    expectAllTo(conditions, [](const Frame&) { return routedTo(packet()); });
}

TEST_F(ToVlan, Conditions) {
    const std::string usual = "ip link set p1 mtu 1500 && ip link set v1 mtu 1500";
    std::vector<Condition> conditions{
        one("Priorities", "ip link set v1 type vlan egress-qos-map 0:3", "vlan-settings",
            "ip link set v1 type vlan egress-qos-map 0:0"),
        one("TagsStay", "ip link set v1 type vlan reorder_hdr off", "vlan-settings",
            "ip link set v1 type vlan reorder_hdr on"),
        one("QueueOfTheVlan", "tc qdisc add dev v1 root tbf rate 1gbit burst 1m latency 50ms", "egress-qdisc",
            "tc qdisc del dev v1 root"),
        one("QueueOfThePort", "tc qdisc add dev p1 root tbf rate 1gbit burst 1m latency 50ms", "egress-qdisc",
            "tc qdisc del dev p1 root"),
        one("TooSmall", "ip link set v1 mtu 600", "route-mtu", usual, {}, 700),
        one("PortTooSmall", "ip link set p1 mtu 600", "route-mtu", usual, {}, 700)};
    for (const char* device : {"p1", "v1"})
        for (auto& condition : filters(packet(), device, "egress"))
            conditions.push_back(std::move(condition));
    expectAllTo(conditions, [](const Frame& frame) { return out(frame); });
}

TEST_F(FromVlan, WhoeverCapturesSeesEveryPacket) {
    accelerate();
    for (const char* interface : {"p0", "v0"})
        for (const int protocol : {ETH_P_ALL, ETH_P_IP})
            expectCapturedAt(interface, protocol, in(), routedTo(packet()));
}

TEST_F(ToVlan, WhoeverCapturesSeesEveryPacket) {
    accelerate();
    for (const char* interface : {"p1", "v1"})
        expectCapturedAt(interface, ETH_P_ALL, packet(), out());
}

/// As `tnactl route get` does.
TEST_F(FromVlan, QuestionIsAboutThePacketWithItsTag) {
    accelerate();
    const auto answer = controller_->route("v0", "10.0.0.2", "10.0.1.2");
    ASSERT_TRUE(answer) << answer.error().sentence();
    EXPECT_EQ((*answer)["port"], "p0");
    EXPECT_EQ((*answer)["received_as"], "v0");
    EXPECT_EQ((*answer)["kernel"]["device"], "p1");
    EXPECT_EQ((*answer)["fast_path"]["port"], "p1");
    EXPECT_TRUE((*answer)["fast_path"]["vlan"].is_null());
    must("ip link add link p0 name other type vlan id 101");
    pump();
    EXPECT_EQ((*controller_->route("other", "10.0.0.2", "10.0.1.2"))["fast_path"]["action"], "linux");
}

TEST_F(ToVlan, QuestionTellsTheTag) {
    accelerate();
    const auto answer = controller_->route("p0", "10.0.0.2", "10.0.1.2");
    ASSERT_TRUE(answer) << answer.error().sentence();
    EXPECT_EQ((*answer)["kernel"]["device"], "v1");
    EXPECT_EQ((*answer)["fast_path"]["port"], "p1");
    EXPECT_EQ((*answer)["fast_path"]["vlan"], (nlohmann::json{{"protocol", "802.1Q"}, {"id", 200}}));
}

TEST_F(FromVlan, GenericXdpProgramOfTheDeviceSeesWhatIsRouted) {
    accelerate();
    expectFastTo(in(), routedTo(packet()));
    whileItDropsAll("v0", [&] { EXPECT_EQ(treat(in()), (Treatment{slowPath("generic-xdp"), {}})); });
    expectFastTo(in(), routedTo(packet()));
}

TEST_F(FromVlan, DeviceThatMovesToAnotherNamespace) {
    accelerate();
    expectFastTo(in(), routedTo(packet()));
    const Namespace other;
    must("ip link set v0 netns " + other.name());
    EXPECT_EQ(treat(in()).path.fast, 0U);
}

TEST_F(ToVlan, PortThatMovesToAnotherNamespace) {
    accelerate();
    expectFastTo(packet(), out());
    const Namespace other;
    must("ip link set p1 netns " + other.name());
    EXPECT_EQ(treat(packet()).path.fast, 0U);
}

TEST_F(ToVlan, NextHopThatMovesToAnotherVlan) {
    accelerate();
    expectFastTo(packet(), out());
    must("ip link add link p1 name w1 address " + text(portMac(1)) + " type vlan id 201");
    must("ip link set w1 up");
    must("ip address del 10.0.1.1/24 dev v1");
    becomes("w1", 1);
    pump();
    expectFastTo(packet(), {{1, {tagged(routed(packet()), 201)}}});
}

} // namespace
} // namespace tna::test
