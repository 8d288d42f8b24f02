// SPDX-License-Identifier: Apache-2.0
// What bridges with addresses, their ports and their stations are told, and what packets that are routed meet
// there besides.
#include "bridged_route_fixture.hpp"

namespace tna::test {
namespace {

Condition one(const char* name, const std::string& set, const std::string& reason, const std::string& unset,
              std::vector<std::string> prepare = {}, std::size_t payload = 26) {
    return RouteTest::about({name, std::move(prepare), {set}, reason, {unset}}, {.payload = payload});
}

Condition port(const char* name, const std::string& port, const std::string& on, const std::string& off,
               const std::string& reason = {}) {
    const auto set = "bridge link set dev " + port + " ";
    return one(name, set + on, reason, set + off, {set + on + " && " + set + off});
}

Condition option(const char* name, const std::string& bridge, const std::string& option,
                 const std::string& reason = {}) {
    const auto set = "ip link set " + bridge + " type bridge " + option + " ";
    return one(name, set + "1", reason, set + "0", {set + "1 && " + set + "0"});
}

Condition station(const char* name, const std::string& set, const std::string& reason,
                  const std::string& unset) {
    return one(name, "bridge fdb " + set, reason, "bridge fdb " + unset);
}

const std::string matchAll = " protocol all u32 match u32 0 0 flowid 1:1";

Condition filter(const char* name, const std::string& device, const std::string& direction,
                 const std::string& reason = "tc") {
    return one(name, "tc filter add dev " + device + " " + direction + matchAll, reason,
               "tc filter del dev " + device + " " + direction, {"tc qdisc add dev " + device + " clsact"});
}

Condition netdev(const char* name, const std::string& device, const std::string& hook,
                 const std::string& reason = "netdev-hook") {
    return one(name,
               "nft add chain netdev t c '{ type filter hook " + hook + " device " + device +
                   " priority 0; policy drop; }'",
               reason, "nft delete chain netdev t c", {"nft add table netdev t"});
}

Condition chain(const char* name, const std::string& family, const std::string& hook,
                const std::string& reason) {
    return one(
        name, "nft add chain " + family + " t c '{ type filter hook " + hook + " priority 0; policy drop; }'",
        reason, "nft delete chain " + family + " t c", {"nft add table " + family + " t"});
}

Condition brNetfilter(const char* name, const std::string& words, const std::string& reason) {
    const auto key = "net.bridge.bridge-nf-call-" + words;
    return one(name, "sysctl -qw " + key + "=1", reason, "sysctl -qw " + key + "=0", {"sysctl " + key});
}

TEST_F(FromBridge, PortsAndOptions) {
    expectAllAsLinux(
        {port("Listening", "p0", "state 1", "state 3", "stp-state"),
         port("Learning", "p0", "state 2", "state 3", "stp-state"),
         port("LearningOff", "p0", "learning off", "learning on", "port-flags"),
         port("Isolated", "p0", "isolated on", "isolated off"),
         port("Hairpin", "p0", "hairpin on", "hairpin off"),
         port("OtherPortBlocks", "p2", "state 4", "state 3"),
         option("NfCallIptables", "br0", "nf_call_iptables", "bridge-options"),
         option("VlanFiltering", "br0", "vlan_filtering", "bridge-options"),
         one("Promiscuous", "ip link set br0 promisc on", "bridge-promisc", "ip link set br0 promisc off"),
         brNetfilter("CallIptables", "iptables", "br-netfilter"),
         brNetfilter("CallArptables", "arptables", "")});
}

TEST_F(FromBridge, Stations) {
    const auto sender = text(test::station(1)), own = text(portMac(0));
    expectAllAsLinux({station("SenderElsewhere", "replace " + sender + " dev p2 master static",
                              "source-unknown", "replace " + sender + " dev p0 master static"),
                      station("SenderIsAnAddressOfTheHost", "replace " + sender + " dev p0 master permanent",
                              "source-invalid", "replace " + sender + " dev p0 master static"),
                      station("OwnAddressIsElsewhere", "replace " + own + " dev p2 master static",
                              "other-station", "replace " + own + " dev p2 master permanent"),
                      one("AnotherMacAddress", "ip link set br0 address 02:00:00:00:09:09", "other-station",
                          "ip link set br0 address " + own)});
}

TEST_F(FromBridge, Filters) {
    expectAllAsLinux({filter("AtThePort", "p0", "ingress"), filter("AtTheBridge", "br0", "ingress"),
                      filter("AtTheBridgesEgress", "br0", "egress", ""),
                      netdev("HookOfThePort", "p0", "ingress"), netdev("HookOfTheBridge", "br0", "ingress"),
                      netdev("EgressHookOfTheBridge", "br0", "egress", ""),
                      chain("BridgePrerouting", "bridge", "prerouting", "bridge-netfilter"),
                      chain("BridgeInput", "bridge", "input", "bridge-netfilter"),
                      chain("BridgeOutput", "bridge", "output", "bridge-netfilter"),
                      chain("Prerouting", "ip", "prerouting", "ip-netfilter"),
                      chain("Forward", "ip", "forward", "ip-netfilter"), chain("Input", "ip", "input", "")});
}

TEST_F(FromBridge, Settings) {
    expectAllAsLinux(
        {one("NoForwarding", "sysctl -qw net.ipv4.conf.br0.forwarding=0", "not-forwarding",
             "sysctl -qw net.ipv4.conf.br0.forwarding=1"),
         one("NoForwardingOnThePort", "sysctl -qw net.ipv4.conf.p0.forwarding=0", "",
             "sysctl -qw net.ipv4.conf.p0.forwarding=1"),
         one("StrictReversePath", "sysctl -qw net.ipv4.conf.br0.rp_filter=1", "",
             "sysctl -qw net.ipv4.conf.br0.rp_filter=0"),
         one("Macvlan", "ip link add link br0 name mv0 type macvlan && ip link set mv0 up", "bridge-promisc",
             "ip link del mv0", {"ip link add link br0 name mv0 type macvlan && ip link del mv0"})});
}

TEST_F(ToBridge, PortsAndOptions) {
    expectAllAsLinux(
        {port("Learning", "p1", "state 2", "state 3", "egress-stp-state"),
         port("LearningOff", "p1", "learning off", "learning on"),
         port("Isolated", "p1", "isolated on", "isolated off"),
         port("NeighbourSuppression", "p1", "neigh_suppress on", "neigh_suppress off", "bridge-options"),
         port("Locked", "p1", "locked on", "locked off", "egress-port-flags"),
         option("NfCallIptables", "br1", "nf_call_iptables", "bridge-options"),
         option("VlanFiltering", "br1", "vlan_filtering", "bridge-options"),
         one("Promiscuous", "ip link set br1 promisc on", "", "ip link set br1 promisc off"),
         brNetfilter("CallIptables", "iptables", "")});
}

TEST_F(ToBridge, Stations) {
    const auto host = text(test::station(2));
    const auto usual = "replace " + host + " dev p1 master static";
    expectAllAsLinux(
        {station("OnAnotherPort", "replace " + host + " dev p2 master static", "", usual),
         station("Unknown", "del " + host + " dev p1 master", "unknown-unicast", usual),
         station("OfTheHostItself", "replace " + host + " dev p1 master permanent", "local", usual),
         one("AnotherNextHop",
             "ip neigh replace 10.0.1.2 lladdr " + text(test::station(9)) + " dev br1 nud permanent",
             "unknown-unicast", "ip neigh replace 10.0.1.2 lladdr " + host + " dev br1 nud permanent")});
}

TEST_F(ToBridge, Filters) {
    expectAllAsLinux(
        {filter("AtThePort", "p1", "egress"), filter("AtTheBridge", "br1", "egress"),
         filter("AtTheBridgesIngress", "br1", "ingress", ""), netdev("HookOfThePort", "p1", "egress"),
         netdev("HookOfTheBridge", "br1", "egress"),
         chain("BridgeInput", "bridge", "input", "bridge-netfilter"),
         chain("BridgeOutput", "bridge", "output", "bridge-netfilter"),
         chain("BridgePostrouting", "bridge", "postrouting", "bridge-netfilter"),
         one("QueueOfTheBridge", "tc qdisc add dev br1 root tbf rate 1gbit burst 1m latency 50ms",
             "egress-qdisc", "tc qdisc del dev br1 root"),
         one("QueueOfThePort", "tc qdisc add dev p1 root tbf rate 1gbit burst 1m latency 50ms",
             "egress-qdisc", "tc qdisc del dev p1 root")});
}

TEST_F(ToBridge, Sizes) {
    const std::string usual = "ip link set br1 mtu 1500 && ip link set p1 mtu 1500";
    expectAllAsLinux({one("BridgeTooSmall", "ip link set br1 mtu 600", "route-mtu", usual, {}, 700),
                      one("PortTooSmall", "ip link set p1 mtu 600", "egress-mtu", usual,
                          {"ip link set br1 mtu 1400 && ip link set br1 mtu 1500"}, 700),
                      one("PortLargeEnough", "ip link set p1 mtu 700", "", usual, {}, 676)});
}

/// Where bridges are no concern, their rules are none.
TEST_F(RouteTest, RulesOfBridgesDoNotMatter) {
    must("ip link add br7 type bridge");
    must("ip address add 10.7.0.1/24 dev br7");
    must("ip link set br7 up");
    for (const char* words : {"iptables", "ip6tables", "arptables"})
        (void)command({"sysctl", "-qw", std::string("net.bridge.bridge-nf-call-") + words + "=1"});
    expectAllAsLinux(
        {chain("BridgeForward", "bridge", "forward", ""), chain("BridgeOutput", "bridge", "output", "")});
}

} // namespace
} // namespace tna::test
