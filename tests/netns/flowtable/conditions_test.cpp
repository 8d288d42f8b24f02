// SPDX-License-Identifier: Apache-2.0
// Packets that flowtables do not forward, and settings that keep the fast path from it.
#include "flowtable_fixture.hpp"
#include "support/listening.hpp"

#include <linux/if_ether.h>

namespace tna::test {
namespace {

Frame changed(Frame frame, std::size_t at, std::uint8_t value) {
    frame.bytes.at(at) = value;
    return frame;
}

template <typename Way>
class FlowtableConditions : public Way {
protected:
    static constexpr bool six = Way::six;
    static std::string host(unsigned port) {
        return six ? "fd00:0:0:" + std::to_string(port) + "::2" : "10.0." + std::to_string(port) + ".2";
    }
    static std::string server() { return host(1) + (six ? "/128" : "/32"); }
    static std::string neighbour(const char* what) {
        return std::string("ip neigh replace ") + host(1) + " lladdr " + text(station(2)) + " dev p1 nud " +
               what;
    }
    static Frame finished(Frame frame) {
        finishIpv4(frame);
        return frame;
    }
    static Frame withOptions() {
        if constexpr (six)
            return {};
        else
            return withPortsBehind(ipv4Frame(RouteTest::portMac(0), station(1), {.options = 4}));
    }
    /// The same ports as ever, behind four bytes of options.
    static Frame withPortsBehind(Frame frame) {
        put(frame, 38, 4000);
        put(frame, 40, 5000);
        return frame;
    }
    static Frame ofOneHop() {
        auto frame = Way::sent(0);
        frame.bytes.at(six ? 21 : 22) = 1;
        if (!six)
            finishIpv4(frame);
        return frame;
    }
};
using Protocols = ::testing::Types<FlowtableOf<RouteTest>, FlowtableOf<Route6Test>>;
TYPED_TEST_SUITE(FlowtableConditions, Protocols);

TYPED_TEST(FlowtableConditions, OfPackets) {
    auto shorter = this->sent(0);
    shorter.bytes.resize(this->six ? 59 : 39);
    auto shortest = shorter;
    shortest.bytes.resize(33);
    // Of IPv6 both are headers between.
    const auto fragment =
        this->six ? changed(this->sent(0), 20, 44) : this->finished(changed(this->sent(0), 20, 0x20));
    const auto options = this->six ? changed(this->sent(0), 20, 60) : this->withOptions();
    this->expectAllAsLinux({
        {"TimeToLive", this->ofOneHop(), "ttl"},
        {"AnotherProtocol", changed(this->sent(0), this->six ? 20 : 23, 132), "flow-kind"},
        {"AnotherStation", changed(this->sent(0), 5, 0x77), "other-station"},
        {"Short", shorter, "short"},
        {"ShortBeforeThePorts", shortest, "short"},
        {"AnotherEtherType", changed(this->sent(0), 13, 0x06), "not-ip"},
        {"Fragment", fragment, "flow-kind"},
        {"Options", options, this->six ? "flow-kind" : "ip-header"},
    });
}

TYPED_TEST(FlowtableConditions, OfSettings) {
    const auto frame = this->sent(0);
    const std::string ip = this->six ? "ip -6 " : "ip ";
    this->expectAllAsLinux({
        {"FiltersAtIngress",
         frame,
         "tc",
         {"tc qdisc add dev p0 clsact", "tc filter add dev p0 ingress matchall action pass"},
         {"tc qdisc del dev p0 clsact"}},
        {"FiltersAtEgress",
         frame,
         "tc",
         {"tc qdisc add dev p1 clsact", "tc filter add dev p1 egress matchall action pass"},
         {"tc qdisc del dev p1 clsact"}},
        {"Queues",
         frame,
         "egress-qdisc",
         {"tc qdisc add dev p1 root tbf rate 1gbit burst 100k latency 50ms"},
         {"tc qdisc del dev p1 root"}},
        {"AnotherHookAtIngress",
         frame,
         "netdev-hook",
         {"nft 'table netdev other { chain c { type filter hook ingress device p0 priority 10; }; }'"},
         {"nft delete table netdev other"}},
        {"HookAtEgress",
         frame,
         "netdev-hook",
         {"nft 'table netdev other { chain c { type filter hook egress device p1 priority 10; }; }'"},
         {"nft delete table netdev other"}},
        {"RouteThatChanges",
         frame,
         "flowtable-stale",
         {ip + "route add " + this->server() + " via " + this->host(2)},
         {ip + "route del " + this->server()}},
        {"NeighbourThatIsStale",
         frame,
         "neighbour",
         {this->neighbour("stale")},
         {this->neighbour("permanent")}},
        {"MtuOfTheRoute",
         this->sent(0, 1450),
         "route-mtu",
         {ip + "route add " + this->server() + (this->six ? " dev p1 mtu lock 1400" : " dev p1 mtu 1400")},
         {ip + "route del " + this->server()},
         true},
        {"Gateway",
         frame,
         "",
         {ip + "route add " + this->server() + " via " + this->host(2)},
         {ip + "route del " + this->server()},
         true},
        {"BackOutOfItsPort",
         frame,
         "",
         {ip + "route add " + this->server() + " via " + this->host(0)},
         {ip + "route del " + this->server()},
         true},
        {"AnotherDeviceTakesThePortsFrames",
         frame,
         "stacked",
         {"ip link add m0 link p0 type macvlan"},
         {"ip link del m0"}},
        {"RulesThatDrop",
         frame,
         "",
         {"nft insert rule inet guard forward drop"},
         {"nft flush chain inet guard forward",
          "nft add rule inet guard forward meta l4proto { tcp, udp } flow add @ft"}},
        {"IpsecPolicies",
         frame,
         "",
         {"ip xfrm policy add src fd09::/64 dst fd08::/64 dir fwd"},
         {"ip xfrm policy flush"},
         true},
        {"AnotherMacAddressOfTheNeighbour",
         frame,
         "",
         {"ip neigh replace " + this->host(1) + " lladdr " + text(station(9)) + " dev p1 nud permanent"},
         {this->neighbour("permanent")}},
    });
}

/// Whoever captures where a packet comes in or leaves sees it.
TYPED_TEST(FlowtableConditions, Captures) {
    this->accelerate();
    const auto frame = this->sent(0);
    for (const auto& [device, protocol] : {std::pair{"p0", ETH_P_ALL},
                                           {"p1", ETH_P_ALL},
                                           {"p0", this->six ? ETH_P_IPV6 : ETH_P_IP},
                                           {static_cast<const char*>(nullptr), ETH_P_ALL}}) {
        this->flows();
        EXPECT_EQ(this->send(frame), fastPath()) << protocol;
        const auto socket = this->capture(device, protocol);
        EXPECT_EQ(this->send(frame), slowPath("capture")) << protocol;
    }
}

/// A flow that is translated to the port of DHCP clients is heard by one that listens where it leaves.
class FlowtableToDhcp : public FlowtableOf<RouteTest, anotherDestination> {
protected:
    const Frame forth = withPorts(sent(0), 4000, 81), back = withPorts(sent(1), 68, 4000);

    void begins() {
        for (int i = 0; i < 3; i++) {
            EXPECT_EQ(treated(forth, 0).out.size(), 1U);
            EXPECT_EQ(treated(back, 1).out.size(), 1U);
        }
    }
};

TEST_F(FlowtableToDhcp, IsHeard) {
    must(fmt::format("nft add rule inet guard before ip daddr {} udp dport 81 dnat ip to 10.0.1.2:68",
                     service));
    accelerate();
    begins();
    EXPECT_EQ(send(forth), fastPath());
    const auto socket = capture("p1", ETH_P_ALL);
    filterBy(socket.get(), udpFor(68));
    controller_->onTick();
    EXPECT_EQ(send(forth), slowPath("capture"));
    EXPECT_TRUE(hears(socket.get()));
}

TYPED_TEST(FlowtableConditions, NeighboursThatAreGroups) {
    this->accelerate();
    const auto frame = this->sent(0);
    EXPECT_EQ(this->send(frame), fastPath());
    must(fmt::format("ip neigh replace {} lladdr 01:00:5e:00:00:07 dev p1 nud permanent", this->server()));
    EXPECT_EQ(this->send(frame), slowPath("neighbour"));
}

/// The far end of where it leaves takes no redirected frames, or is down.
TYPED_TEST(FlowtableConditions, FarEnds) {
    this->accelerate();
    const auto frame = this->sent(0);
    EXPECT_EQ(this->send(frame), fastPath());
    this->inFar("ethtool -K far1 gro off");
    EXPECT_EQ(this->send(frame), slowPath("egress-redirect"));
    this->inFar("ethtool -K far1 gro on");
    EXPECT_EQ(this->send(frame), fastPath());
    this->inFar("ip link set far1 down");
    // Linux looks for other routes of IPv4 at once.
    EXPECT_EQ(this->send(frame), slowPath(this->six ? "egress-down" : "flowtable-stale"));
}

/// Linux hands what leaves by a bridge to its port at once.
class FlowtableToBridge : public FlowtableOf<ToBridge> {};

TEST_F(FlowtableToBridge, IsLinuxs) {
    accelerate();
    EXPECT_EQ(send(sent(0)), slowPath("flowtable-special"));
}

/// A route that ends by itself is asked for its time by Linux.
class FlowtableOfRoutesThatEnd : public FlowtableOf<Route6Test> {};

TEST_F(FlowtableOfRoutesThatEnd, IsLinuxs) {
    accelerate();
    EXPECT_EQ(send(sent(0)), fastPath());
    must("ip -6 route add fd00:0:0:1::2/128 dev p1 expires 1000");
    flows();
    EXPECT_EQ(send(sent(0)), slowPath("flowtable-special"));
}

/// What a flowtable with counters counts, or what connection tracking does of its flows.
template <typename Way>
class CountingFlowtable : public Way {
protected:
    std::string flowtable() override { return Way::flowtable() + " counter;"; }
};
TYPED_TEST_SUITE(CountingFlowtable, Protocols);

TYPED_TEST(CountingFlowtable, IsLinuxs) {
    this->accelerate();
    EXPECT_EQ(this->send(this->sent(0)), slowPath("flowtable-special"));
}

} // namespace
} // namespace tna::test
