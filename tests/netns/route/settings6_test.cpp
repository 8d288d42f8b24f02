// SPDX-License-Identifier: Apache-2.0
// What the namespace and its devices are set to for IPv6; filters, rules and policies.
#include "route_fixture.hpp"

namespace tna::test {
namespace {

using Router6Settings = Route6Test;

Condition one(const char* name, std::vector<std::string> prepare, const std::string& set,
              const std::string& reason, const std::string& unset) {
    return Route6Test::about({name, std::move(prepare), {set}, reason, {unset}});
}

Condition setting(const char* name, const std::string& key, const std::string& on, const std::string& reason,
                  const std::string& off) {
    return one(name, {}, "sysctl -qw net.ipv6.conf." + key + "=" + on, reason,
               "sysctl -qw net.ipv6.conf." + key + "=" + off);
}

/// A port that had no IPv6 gets it back.
std::string again(const std::string& port, const std::string& network, const Mac& host) {
    return "sysctl -qw net.ipv6.conf." + port + ".disable_ipv6=0 && ip address add " + network + "1/64 dev " +
           port + " nodad && ip neigh replace " + network + "2 lladdr " + text(host) + " dev " + port +
           " nud permanent";
}

TEST_F(Router6Settings, Settings) {
    const std::string off = "sysctl -qw net.ipv6.conf.";
    expectAllAsLinux({setting("NoForwarding", "all.forwarding", "0", "not-forwarding", "1"),
                      setting("NoForwardingOnTheLeavingPort", "p1.forwarding", "0", "", "1"),
                      setting("Proxy", "all.proxy_ndp", "1", "proxy-ndp", "0"),
                      setting("ProxyOnThePort", "p0.proxy_ndp", "1", "", "0"),
                      one("ForcedOnThePort", {"sysctl -qn net.ipv6.conf.p0.force_forwarding"},
                          "sysctl -qw net.ipv6.conf.all.forwarding=0 net.ipv6.conf.p0.force_forwarding=1",
                          "not-forwarding",
                          "sysctl -qw net.ipv6.conf.p0.force_forwarding=0 net.ipv6.conf.all.forwarding=1"),
                      one("DisabledOnThePort", {}, off + "p0.disable_ipv6=1", "not-forwarding",
                          again("p0", "fd00:0:0:0::", station(1))),
                      one("DisabledOnTheLeavingPort", {}, off + "p1.disable_ipv6=1", "not-routed",
                          again("p1", "fd00:0:0:1::", station(2)))});
}

/// What the port is set to makes it a router or a host, and is no reason for Linux not to forward.
TEST_F(Router6Settings, NoForwardingOnThePort) {
    accelerate();
    if (IsSkipped())
        return;
    expectFast(packet());
    sysctl("net.ipv6.conf.p0.forwarding", "0");
    EXPECT_EQ(treat(packet()).out, routedTo(packet()));
    must("ip -6 route add fd09::/16 via fd00:0:0:1::2");
    EXPECT_EQ(treat(packet()), (Treatment{slowPath("not-forwarding"), routedTo(packet())}));
}

Condition policy(const char* name, const std::string& direction) {
    return one(name, {"ip xfrm policy flush"},
               "ip xfrm policy add src ::/0 dst ::/0 dir " + direction + " action block", "xfrm",
               "ip xfrm policy flush");
}

TEST_F(Router6Settings, Ipsec) {
    expectAllAsLinux(
        {policy("Forward", "fwd"), policy("Out", "out"),
         one("Default", {"ip xfrm policy setdefault fwd accept"}, "ip xfrm policy setdefault fwd block",
             "xfrm", "ip xfrm policy setdefault fwd accept")});
}

const std::string matchAll = " protocol all u32 match u32 0 0 flowid 1:1";

TEST_F(Router6Settings, TrafficControl) {
    expectAllAsLinux({one("IngressFilter", {"tc qdisc add dev p0 clsact"},
                          "tc filter add dev p0 ingress" + matchAll, "tc", "tc filter del dev p0 ingress"),
                      one("EgressFilter", {"tc qdisc add dev p1 clsact"},
                          "tc filter add dev p1 egress" + matchAll, "tc", "tc filter del dev p1 egress"),
                      one("TokenBucket", {}, "tc qdisc add dev p1 root tbf rate 1gbit burst 1m latency 50ms",
                          "egress-qdisc", "tc qdisc del dev p1 root")});
}

Condition chain(const char* name, const std::string& family, const std::string& hook,
                const std::string& reason, const std::string& verdict = "accept") {
    return one(name, {"nft add table " + family + " t"},
               "nft add chain " + family + " t c '{ type filter hook " + hook + " priority 0; policy " +
                   verdict + "; }'",
               reason, "nft delete chain " + family + " t c");
}

TEST_F(Router6Settings, Netfilter) {
    expectAllAsLinux({chain("NetdevIngress", "netdev", "ingress device p0", "netdev-hook"),
                      chain("NetdevEgressThatDrops", "netdev", "egress device p1", "netdev-hook", "drop"),
                      chain("Prerouting", "ip6", "prerouting", "ip-netfilter"),
                      chain("PreroutingThatDrops", "ip6", "prerouting", "ip-netfilter", "drop"),
                      chain("Forward", "inet", "forward", "ip-netfilter"),
                      chain("ForwardThatDrops", "ip6", "forward", "ip-netfilter", "drop"),
                      chain("Postrouting", "ip6", "postrouting", "ip-netfilter"),
                      chain("PostroutingThatDrops", "inet", "postrouting", "ip-netfilter", "drop"),
                      chain("Input", "inet", "input", "", "drop"),
                      chain("Output", "ip6", "output", "", "drop"),
                      chain("OfIpv4", "ip", "forward", "", "drop")});
}

TEST_F(Router6Settings, Devices) {
    expectAllAsLinux({one(
        "MacvlanOnThePort", {"ip link add link p0 name mv0 type macvlan && ip link del mv0"},
        "ip link add link p0 name mv0 type macvlan && ip link set mv0 up", "stacked", "ip link del mv0")});
}

} // namespace
} // namespace tna::test
