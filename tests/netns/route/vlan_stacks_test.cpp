// SPDX-License-Identifier: Apache-2.0
// VLAN devices on VLAN devices on ports: packets with two tags.
#include "base/file.hpp"
#include "vlan_route_fixture.hpp"

#include <linux/if_ether.h>

namespace tna::test {
namespace {

template <typename Router>
class VlanStacks : public VlanStacksOf<Router> {};
using Protocols = ::testing::Types<RouteTest, Route6Test>;
TYPED_TEST_SUITE(VlanStacks, Protocols);

TYPED_TEST(VlanStacks, PacketsComeInWithTwoTags) {
    this->stack(0, "p0", 100, 10);
    const auto packet = TypeParam::packet();
    this->expectFastAsLinux(tagged(packet, 10, 100, 0x88a8), this->routedTo(packet));
    auto padded = tagged(packet, 0xf000 | 10, 0x6000 | 100, 0x88a8); // of some priority
    padded.bytes.resize(padded.bytes.size() + 9);
    this->expectFastTo(padded, this->routedTo(packet));
    EXPECT_FALSE(this->controller_->port("v0")) << "its port is what is accelerated";
}

TYPED_TEST(VlanStacks, PacketsLeaveWithTwoTags) {
    this->stack(1, "p1", 200, 20);
    const auto packet = TypeParam::packet();
    const auto out = [&](const Frame& frame) {
        return Arrivals{{1, {tagged(this->routed(frame), 20, 200, 0x88a8)}}};
    };
    this->expectFastAsLinux(packet, out(packet));
    const auto large = TypeParam::packet({.payload = 1440});
    this->expectFastTo(large, out(large));
    auto padded = packet;
    padded.bytes.resize(padded.bytes.size() + 9);
    this->expectFastTo(padded, out(packet));
}

TYPED_TEST(VlanStacks, PacketsGoBackOutOfTheirPortWithOtherTags) {
    this->stack(0, "p0", 100, 10);
    this->stack(1, "p0", 200, 20);
    this->becomes("p1", 9); // or it would be no router's port
    const auto packet = TypeParam::packet();
    const auto in = tagged(packet, 10, 100, 0x88a8);
    const Arrivals out{{0, {tagged(this->routed(packet), 20, 200, 0x88a8)}}};
    this->expectFastAsLinux(in, out);
}

TYPED_TEST(VlanStacks, TwoTagsBecomeOne) {
    this->stack(0, "p0", 100, 10);
    this->vlan(1, "p1", "id 200");
    const auto packet = TypeParam::packet();
    this->expectFastAsLinux(tagged(packet, 10, 100, 0x88a8), {{1, {tagged(this->routed(packet), 200)}}});
}

TYPED_TEST(VlanStacks, OneTagBecomesTwo) {
    this->vlan(0, "p0", "id 100");
    this->stack(1, "p1", 200, 20);
    const auto packet = TypeParam::packet();
    this->expectFastAsLinux(tagged(packet, 100), {{1, {tagged(this->routed(packet), 20, 200, 0x88a8)}}});
}

TYPED_TEST(VlanStacks, EachPairOfTagsIsADeviceOfItsOwn) {
    this->stack(0, "p0", 100, 10);
    must("ip link add link s0 name other type vlan id 11");
    must("ip link add link p0 name another type vlan id 100");
    must("ip link set another up");
    if (std::is_same_v<TypeParam, Route6Test>)
        for (const char* setting : {"addr_gen_mode=1", "accept_dad=0", "disable_ipv6=0"})
            must(std::string("sysctl -qw net/ipv6/conf/s0/") + setting);
    const auto packet = TypeParam::packet();
    const auto right = tagged(packet, 10, 100, 0x88a8);
    this->atLast(right, this->routedTo(packet));
    const std::vector<Frame> frames{packet,
                                    tagged(packet, 10),
                                    tagged(packet, 100, 0x88a8),
                                    tagged(packet, 11, 100, 0x88a8),
                                    tagged(packet, 12, 100, 0x88a8),
                                    tagged(packet, 10, 101, 0x88a8),
                                    tagged(packet, 10, 100, 0x8100),
                                    tagged(tagged(packet, 10, 0x88a8), 100, 0x88a8),
                                    tagged(tagged(packet, 3), 10, 100, 0x88a8),
                                    tagged(packet, 10, 0, 0x88a8),
                                    tagged(packet, 0, 100, 0x88a8)};
    std::vector<Arrivals> linux;
    for (const auto& frame : frames)
        linux.push_back(this->treat(frame).out);
    this->accelerate();
    for (std::size_t i = 0; i < frames.size(); i++) {
        this->expectFastTo(right, this->routedTo(packet));
        const auto treated = this->treat(frames[i]);
        EXPECT_EQ(treated.out, linux[i]) << i;
        // Without a tag the port receives it, with the outer one the device in between.
        EXPECT_EQ(treated.path.fast, i == 0 || i == 2 ? 1U : 0U) << i;
    }
}

TYPED_TEST(VlanStacks, CutAtEachLength) {
    this->stack(0, "p0", 100, 10);
    const auto packet = TypeParam::packet({.payload = 1});
    const auto whole = tagged(packet, 10, 100, 0x88a8);
    this->expectOnlyWholeIsFast(whole, this->routedTo(packet));
}

/// Packets as large as the devices' MTUs: with two tags, the port has no room for them, unless Linux finds
/// it.
TYPED_TEST(VlanStacks, LargestPackets) {
    this->stack(1, "p1", 200, 20);
    const unsigned headers = std::is_same_v<TypeParam, RouteTest> ? 28 : 48;
    std::vector<Frame> frames;
    for (unsigned total = 1490; total <= 1500; total++)
        frames.push_back(TypeParam::packet({.payload = total - headers}));
    const auto packet = TypeParam::packet();
    this->atLast(packet, {{1, {tagged(this->routed(packet), 20, 200, 0x88a8)}}});
    std::vector<Arrivals> linux;
    for (const auto& frame : frames)
        linux.push_back(this->treat(frame).out);
    this->accelerate();
    for (std::size_t i = 0; i < frames.size(); i++)
        EXPECT_EQ(this->treat(frames[i]).out, linux[i]) << 1490 + i;
}

/// Where Linux itself sends, the outer tag would have to be taken off, and the inner one moved to its place,
/// which may fail half-way.
template <typename Router>
class TwoTagsAtTcx : public VlanStacksOf<Router> {};
TYPED_TEST_SUITE(TwoTagsAtTcx, Protocols);

TYPED_TEST(TwoTagsAtTcx, AreLinuxs) {
    if (!this->atTcx())
        GTEST_SKIP() << "that is about tcx";
    this->stack(0, "p0", 100, 10);
    const auto packet = TypeParam::packet();
    const auto in = tagged(packet, 10, 100, 0x88a8);
    this->atLast(in, this->routedTo(packet));
    this->accelerate();
    for (int times = 0; times < 2; times++)
        EXPECT_EQ(this->treat(in), (Treatment{slowPath("headroom"), this->routedTo(packet)}));
}

class FromVlanStack : public VlanStacksOf<RouteTest> {
protected:
    void SetUp() override {
        VlanStacksOf<RouteTest>::SetUp();
        if (IsSkipped())
            return;
        stack(0, "p0", 100, 10);
        atLast(in(), routedTo(packet()));
    }
    static Frame in() { return tagged(packet(), 10, 100, 0x88a8); }
    static Condition one(const char* name, const std::string& set, const std::string& reason,
                         const std::string& unset, std::vector<std::string> prepare = {}) {
        return {name, std::move(prepare), {set}, reason, {unset}, in()};
    }
};

TEST_F(FromVlanStack, Conditions) {
    const std::string again = " && ip link set v0 up && ip neigh replace 10.0.0.2 lladdr " +
                              text(station(1)) + " dev v0 nud permanent";
    const std::string macvlan = "ip link add link s0 name mv0 type macvlan";
    std::vector<Condition> conditions{
        one("Down", "ip link set s0 down", "vlan-settings", "ip link set s0 up" + again),
        one("DownOnTop", "ip link set v0 down", "vlan-settings", "ip link set s0 up" + again),
        one("TagsStay", "ip link set s0 type vlan reorder_hdr off", "vlan-settings",
            "ip link set s0 type vlan reorder_hdr on"),
        one("TagsStayOnTop", "ip link set v0 type vlan reorder_hdr off", "vlan-settings",
            "ip link set v0 type vlan reorder_hdr on"),
        one("Macvlan", macvlan, "stacked", "ip link del mv0", {macvlan + " && ip link del mv0"})};
    for (auto& condition : filters(in(), "s0", "ingress"))
        conditions.push_back(std::move(condition));
    expectAllTo(conditions, [](const Frame&) { return routedTo(packet()); });
}

TEST_F(FromVlanStack, WhoeverCapturesSeesEveryPacket) {
    accelerate();
    for (const char* interface : {"p0", "s0", "v0"})
        expectCapturedAt(interface, ETH_P_ALL, in(), routedTo(packet()));
    for (const char* interface : {"p0", "v0"}) // not in between: Linux is past that by then
        expectCapturedAt(interface, ETH_P_IP, in(), routedTo(packet()));
}

TEST_F(FromVlanStack, GenericXdpProgramInBetweenSeesWhatIsRouted) {
    accelerate();
    expectFastTo(in(), routedTo(packet()));
    whileItDropsAll("s0", [&] { EXPECT_EQ(treat(in()), (Treatment{slowPath("generic-xdp"), {}})); });
    expectFastTo(in(), routedTo(packet()));
}

TEST_F(FromVlanStack, DeviceInBetweenThatGoes) {
    accelerate();
    expectFastTo(in(), routedTo(packet()));
    must("ip link del s0");
    EXPECT_EQ(treat(in()).path.fast, 0U);
}

/// As `tnactl route get` does.
TEST_F(FromVlanStack, QuestionIsAboutThePacketWithItsTags) {
    stack(1, "p1", 200, 20);
    atLast(in(), {{1, {tagged(routed(packet()), 20, 200, 0x88a8)}}});
    accelerate();
    const auto answer = controller_->route("v0", "10.0.0.2", "10.0.1.2");
    ASSERT_TRUE(answer) << answer.error().sentence();
    EXPECT_EQ((*answer)["port"], "p0");
    EXPECT_EQ((*answer)["received_as"], "v0");
    EXPECT_EQ((*answer)["kernel"]["device"], "v1");
    EXPECT_EQ((*answer)["fast_path"]["port"], "p1");
    const nlohmann::json inner{{"protocol", "802.1Q"}, {"id", 20}};
    EXPECT_EQ((*answer)["fast_path"]["vlan"],
              (nlohmann::json{{"protocol", "802.1ad"}, {"id", 200}, {"inner", inner}}));
}

/// Known behind a bridge's port, with VLAN devices that packets are routed to on the bridge and on ports.
TEST_F(FromVlanStack, ToOneOnABridge) {
    must("ip link add br0 type bridge mcast_snooping 0");
    must("ip link set br0 up");
    must("ip link set p1 master br0");
    must("bridge fdb replace " + text(station(2)) + " dev p1 master static");
    must("ip link add link br0 name w0 type vlan id 5");
    must("ip link set w0 up");
    must("ip address add 10.0.9.1/24 dev w0");
    stack(1, "br0", 200, 20);
    const Arrivals out{{1, {tagged(routed(packet()), 20, 200, 0x88a8)}}};
    atLast(in(), out);
    accelerate();
    for (unsigned i = 0; i < 2; i++)
        EXPECT_EQ(treat(in()), (Treatment{slowPath("stacked"), out}));
}

class ToVlanStack : public VlanStacksOf<RouteTest> {
protected:
    void SetUp() override {
        VlanStacksOf<RouteTest>::SetUp();
        if (IsSkipped())
            return;
        stack(1, "p1", 200, 20);
        atLast(packet(), out());
    }
    static Arrivals out(const Frame& frame = packet()) {
        return {{1, {tagged(routed(frame), 20, 200, 0x88a8)}}};
    }
    static Condition one(const char* name, const std::string& set, const std::string& reason,
                         const std::string& unset, std::vector<std::string> prepare = {}) {
        return {name, std::move(prepare), {set}, reason, {unset}, packet()};
    }
};

TEST_F(ToVlanStack, Conditions) {
    std::vector<Condition> conditions{one("Priorities", "ip link set s1 type vlan egress-qos-map 0:3",
                                          "vlan-settings", "ip link set s1 type vlan egress-qos-map 0:0"),
                                      one("PrioritiesOnTop", "ip link set v1 type vlan egress-qos-map 0:3",
                                          "vlan-settings", "ip link set v1 type vlan egress-qos-map 0:0"),
                                      one("TagsStay", "ip link set s1 type vlan reorder_hdr off",
                                          "vlan-settings", "ip link set s1 type vlan reorder_hdr on"),
                                      one("Queue",
                                          "tc qdisc add dev s1 root tbf rate 1gbit burst 1m latency 50ms",
                                          "egress-qdisc", "tc qdisc del dev s1 root")};
    for (auto& condition : filters(packet(), "s1", "egress"))
        conditions.push_back(std::move(condition));
    expectAllTo(conditions, [](const Frame& frame) { return out(frame); });
}

TEST_F(ToVlanStack, WhoeverCapturesSeesEveryPacket) {
    accelerate();
    for (const char* interface : {"p1", "s1", "v1"})
        expectCapturedAt(interface, ETH_P_ALL, packet(), out());
}

/// They are told of one tag, so what has two is not routed beside them.
TEST_F(ToVlanStack, CustomModulesBehindRouting) {
    accelerate();
    expectFastTo(packet(), out());
    const auto object = readFile(TNA_MODULE);
    ASSERT_TRUE(object);
    const auto placed = controller_->modules().place("module", *object, {.hooks = {"route"}}, false);
    ASSERT_TRUE(placed) << placed.error().sentence();
    for (unsigned i = 0; i < 2; i++) {
        const auto treated = treat(packet());
        EXPECT_EQ(treated.out, out());
        EXPECT_EQ(treated.path.fast, 0U);
    }
    ASSERT_TRUE(controller_->modules().remove("module"));
    expectFastTo(packet(), out());
}

TEST_F(ToVlanStack, DeviceInBetweenThatIsDown) {
    accelerate();
    expectFastTo(packet(), out());
    must("ip link set s1 down");
    EXPECT_EQ(treat(packet()).path.fast, 0U);
}

} // namespace
} // namespace tna::test
