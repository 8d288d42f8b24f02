// SPDX-License-Identifier: Apache-2.0
// What the namespace and its devices are set to; filters, rules and policies that Linux would run on a
// packet.
#include "route_fixture.hpp"

namespace tna::test {
namespace {

using RouterSettings = RouteTest;

Condition one(const char* name, std::vector<std::string> prepare, const std::string& set,
              const std::string& reason, const std::string& unset) {
    return RouteTest::about({name, std::move(prepare), {set}, reason, {unset}});
}

Condition setting(const char* name, const std::string& key, const std::string& on, const std::string& reason,
                  const std::string& off) {
    return one(name, {}, "sysctl -qw net.ipv4." + key + "=" + on, reason,
               "sysctl -qw net.ipv4." + key + "=" + off);
}

TEST_F(RouterSettings, Settings) {
    expectAllAsLinux({setting("NoForwarding", "ip_forward", "0", "not-forwarding", "1"),
                      setting("NoForwardingOnThePort", "conf.p0.forwarding", "0", "not-forwarding", "1"),
                      setting("NoForwardingOnTheLeavingPort", "conf.p1.forwarding", "0", "", "1"),
                      setting("StrictReversePath", "conf.p0.rp_filter", "1", "", "0"),
                      setting("LooseReversePath", "conf.all.rp_filter", "2", "", "0"),
                      setting("AcceptLocal", "conf.p0.accept_local", "1", "", "0"),
                      setting("UsePmtu", "ip_forward_use_pmtu", "1", "", "0")});
}

/// About a packet whose source is routed by p2, and comes in by p0.
Condition asymmetric(const char* name, const std::string& key, const std::string& value,
                     const std::string& reason) {
    auto condition = setting(name, key, value, reason, "0");
    condition.prepare = {"ip route add 10.5.0.0/16 via 10.0.2.2"};
    return RouteTest::about(std::move(condition), {.from = "10.5.0.1"});
}

TEST_F(RouterSettings, SourceOfAnotherPort) {
    expectAllAsLinux({asymmetric("StrictReversePath", "conf.p0.rp_filter", "1", "reverse-path"),
                      asymmetric("StrictReversePathEverywhere", "conf.all.rp_filter", "1", "reverse-path"),
                      asymmetric("LooseReversePath", "conf.p0.rp_filter", "2", ""),
                      asymmetric("LooseReversePathEverywhere", "conf.all.rp_filter", "2", ""),
                      asymmetric("StrictReversePathOnTheLeavingPort", "conf.p1.rp_filter", "1", "")});
}

/// About a packet from an address that becomes this host's, whose local route is not what a packet finds.
Condition ownAddress(const char* name, const std::string& set, const std::string& reason,
                     const std::string& unset = "true", std::uint8_t tos = 0) {
    return RouteTest::about({name,
                             {"ip route add 10.5.0.0/16 via 10.0.2.2"},
                             {"ip address add 10.5.0.1/32 dev p2", set},
                             reason,
                             {unset, "ip address del 10.5.0.1/32 dev p2"}},
                            {.from = "10.5.0.1", .tos = tos});
}

/// Linux knows its addresses by a list of their own, unless there is a filter.
TEST_F(RouterSettings, SourceIsOfThisHostThoughNoRouteSaysSo) {
    const std::string remove = "ip route del local 10.5.0.1 dev p2 table local";
    expectAllAsLinux(
        {ownAddress("WithItsLocalRoute", "true", "reverse-path"),
         ownAddress("LocalRouteIsGone", remove, "reverse-path"),
         ownAddress("LocalRouteComesSecond", "ip route prepend 10.5.0.1/32 via 10.0.2.2 table local",
                    "reverse-path", "ip route del 10.5.0.1/32 via 10.0.2.2 table local"),
         ownAddress("LocalRouteOfAnotherTypeOfService",
                    "ip route add 10.5.0.1/32 tos 0x10 via 10.0.2.2 table local", "reverse-path",
                    "ip route del 10.5.0.1/32 tos 0x10 table local", 0x10),
         ownAddress("LooseFilter", remove + " && sysctl -qw net.ipv4.conf.p0.rp_filter=2", "",
                    "sysctl -qw net.ipv4.conf.p0.rp_filter=0"),
         ownAddress("StrictFilter", remove + " && sysctl -qw net.ipv4.conf.p0.rp_filter=1", "reverse-path",
                    "sysctl -qw net.ipv4.conf.p0.rp_filter=0"),
         ownAddress("FiltersThatAreNone", remove + " && sysctl -qw net.ipv4.conf.p0.rp_filter=-1",
                    "reverse-path", "sysctl -qw net.ipv4.conf.p0.rp_filter=0")});
}

/// Whether one that was not looked at is the source, nobody knows.
TEST_F(RouterSettings, SourceIsOneOfMoreAddressesThanAreLookedAt) {
    constexpr unsigned most = 8192;
    const auto own = packet({.from = "10.5.0.1"}), another = packet({.from = "10.5.0.2"});
    must("ip route add 10.5.0.0/16 via 10.0.2.2");
    std::vector<std::string> added, removed;
    for (unsigned i = 0; i < most; i++) {
        const auto address = fmt::format("10.6.{}.{}/32 dev p2", i / 256, i % 256);
        added.push_back("address add " + address);
        removed.push_back("address del " + address);
    }
    inOneRun(added);
    run({"ip address add 10.5.0.1/32 dev p2", "ip route del local 10.5.0.1 dev p2 table local"});
    ASSERT_TRUE(treat(own).out.empty()) << "plain Linux drops it";
    ASSERT_EQ(treat(another).out, routedTo(another));
    accelerate();
    for (int i = 0; i < 2 && !IsSkipped(); i++) {
        EXPECT_EQ(treat(own), (Treatment{slowPath("reverse-path"), {}}));
        EXPECT_EQ(treat(another), (Treatment{slowPath("reverse-path"), routedTo(another)}));
    }
    if (IsSkipped())
        return;
    inOneRun(removed);
    EXPECT_EQ(treat(own), (Treatment{slowPath("reverse-path"), {}}));
    EXPECT_TRUE(eventually([&] { return treat(another) == Treatment{fastPath(), routedTo(another)}; }));
}

TEST_F(RouterSettings, FilterOfSmallerThanNone) {
    run({"ip route add 10.5.0.0/16 via 10.0.2.2", "sysctl -qw net.ipv4.conf.p0.rp_filter=1",
         "sysctl -qw net.ipv4.conf.all.rp_filter=-1"});
    accelerate();
    for (int i = 0; i < 3 && !IsSkipped(); i++)
        EXPECT_EQ(treat(packet({.from = "10.5.0.1"})), (Treatment{slowPath("reverse-path"), {}}));
}

/// No generation tells of that; it is announced.
TEST_F(RouterSettings, WhetherRoutesOfLinksThatAreDownCount) {
    const auto frame = packet({.from = "10.5.0.1"});
    run({"sysctl -qw net.ipv4.conf.p0.rp_filter=1", "ip route add 10.5.0.0/16 via 10.0.2.2",
         "ip route add 10.5.0.0/16 via 10.0.0.2 metric 10"});
    inFar("ip link set far2 down");
    sysctl("net.ipv4.conf.p2.ignore_routes_with_linkdown", "1");
    routesAtLast(frame);
    const auto each = [&](const auto& passes, const auto& fails) {
        for (const std::string link : {"p2", "all"}) {
            SCOPED_TRACE(link);
            const auto ignore = "net.ipv4.conf." + link + ".ignore_routes_with_linkdown";
            sysctl(ignore, "1");
            passes();
            sysctl(ignore, "0");
            fails();
        }
    };
    each([&] { EXPECT_EQ(treat(frame).out, routedTo(frame)); },
         [&] { EXPECT_EQ(treat(frame).out, Arrivals{}); });
    accelerate();
    if (IsSkipped())
        return;
    each(
        [&] {
            pump();
            expectFast(frame);
        },
        [&] {
            pump();
            EXPECT_EQ(treat(frame), (Treatment{slowPath("reverse-path"), {}}));
        });
}

Condition policy(const char* name, const std::string& direction) {
    return one(name, {"ip xfrm policy flush"},
               "ip xfrm policy add src 0.0.0.0/0 dst 0.0.0.0/0 dir " + direction + " action block", "xfrm",
               "ip xfrm policy flush");
}

TEST_F(RouterSettings, Ipsec) {
    expectAllAsLinux(
        {policy("Forward", "fwd"), policy("Out", "out"),
         // Policies are counted together, but only those of IPv4 make Linux forget its routes.
         one("OfIpv6", {"ip xfrm policy flush"}, "ip xfrm policy add src ::/0 dst ::/0 dir fwd action block",
             "xfrm", "ip xfrm policy flush"),
         one("Default", {"ip xfrm policy setdefault fwd accept"}, "ip xfrm policy setdefault fwd block",
             "xfrm", "ip xfrm policy setdefault fwd accept"),
         one("DefaultOut", {"ip xfrm policy setdefault out accept"}, "ip xfrm policy setdefault out block",
             "xfrm", "ip xfrm policy setdefault out accept")});
}

const std::string matchAll = " protocol all u32 match u32 0 0 flowid 1:1";

TEST_F(RouterSettings, TrafficControl) {
    expectAllAsLinux(
        {one("IngressFilter", {"tc qdisc add dev p0 clsact"}, // stays there empty, which does not matter

             "tc filter add dev p0 ingress" + matchAll, "tc", "tc filter del dev p0 ingress"),
         one("EgressFilter", {"tc qdisc add dev p1 clsact"}, "tc filter add dev p1 egress" + matchAll, "tc",
             "tc filter del dev p1 egress"),
         one("TokenBucket", {}, "tc qdisc add dev p1 root tbf rate 1gbit burst 1m latency 50ms",
             "egress-qdisc", "tc qdisc del dev p1 root"),
         one("FqCodel", {"tc qdisc add dev p1 root fq_codel && tc qdisc del dev p1 root"},
             "tc qdisc add dev p1 root fq_codel", "", "tc qdisc del dev p1 root"),
         one("FqCodelWithAFilterThatDrops",
             {"tc qdisc add dev p1 root handle 1: fq_codel && tc qdisc del dev p1 root"},
             "tc qdisc add dev p1 root handle 1: fq_codel && tc filter add dev p1 parent 1:" + matchAll +
                 " action drop",
             "egress-qdisc", "tc qdisc del dev p1 root"),
         one("FqThatShapes", {"tc qdisc add dev p1 root fq && tc qdisc del dev p1 root"},
             "tc qdisc add dev p1 root fq maxrate 8mbit", "egress-qdisc", "tc qdisc del dev p1 root")});
}

Condition chain(const char* name, const std::string& family, const std::string& hook,
                const std::string& reason, const std::string& verdict = "accept") {
    return one(name, {"nft add table " + family + " t"},
               "nft add chain " + family + " t c '{ type filter hook " + hook + " priority 0; policy " +
                   verdict + "; }'",
               reason, "nft delete chain " + family + " t c");
}

TEST_F(RouterSettings, Netfilter) {
    expectAllAsLinux(
        {chain("NetdevIngress", "netdev", "ingress device p0", "netdev-hook"),
         chain("NetdevEgressThatDrops", "netdev", "egress device p1", "netdev-hook", "drop"),
         chain("Prerouting", "ip", "prerouting", "ip-netfilter"),
         chain("PreroutingThatDrops", "ip", "prerouting", "ip-netfilter", "drop"),
         chain("Forward", "inet", "forward", "ip-netfilter"),
         chain("ForwardThatDrops", "ip", "forward", "ip-netfilter", "drop"),
         chain("Postrouting", "ip", "postrouting", "ip-netfilter"),
         chain("PostroutingThatDrops", "inet", "postrouting", "ip-netfilter", "drop"),
         chain("Input", "inet", "input", "", "drop"), chain("Output", "inet", "output", "", "drop"),
         chain("OfIpv6", "ip6", "forward", "", "drop"), chain("OfBridges", "bridge", "forward", "", "drop")});
}

TEST_F(RouterSettings, Devices) {
    expectAllAsLinux(
        {one("MacvlanOnThePort", {"ip link add link p0 name mv0 type macvlan && ip link del mv0"},
             "ip link add link p0 name mv0 type macvlan && ip link set mv0 up", "stacked", "ip link del mv0"),
         // Unlike one that is set up, it does not make Linux, and so what is remembered, forget routes.
         one("MacvlanThatIsDown", {"ip link add link p0 name mv0 type macvlan && ip link del mv0"},
             "ip link add link p0 name mv0 type macvlan", "stacked", "ip link del mv0"),
         one("SmallerMtu", {}, "ip link set p1 mtu 1000", "", "ip link set p1 mtu 1500"),
         RouteTest::about(
             {"MtuTooSmall", {}, {"ip link set p1 mtu 600"}, "route-mtu", {"ip link set p1 mtu 1500"}},
             {.payload = 700})});
}

} // namespace
} // namespace tna::test
