// SPDX-License-Identifier: Apache-2.0
// Filters and rules that Linux would run on a frame.
#include "condition.hpp"

namespace tna::test {
namespace {

const std::string matchAll = " protocol all u32 match u32 0 0 flowid 1:1";

INSTANTIATE_TEST_SUITE_P(
    TrafficControl, ConditionTest,
    ::testing::Values(
        Condition{"IngressFilter",
                  {"tc qdisc add dev p0 clsact"},
                  {"tc filter add dev p0 ingress" + matchAll},
                  "tc",
                  {"tc filter del dev p0 ingress"}},
        Condition{"EgressFilter",
                  {"tc qdisc add dev p1 clsact"},
                  {"tc filter add dev p1 egress" + matchAll},
                  "tc",
                  {"tc filter del dev p1 egress"}},
        Condition{"IngressFilterThatDrops",
                  {"tc qdisc add dev p0 clsact && tc filter add dev p0 ingress" + matchAll +
                   " action drop && tc filter del dev p0 ingress"},
                  {"tc filter add dev p0 ingress" + matchAll + " action drop"},
                  "tc",
                  {"tc filter del dev p0 ingress"}},
        Condition{"ClsactAndFilterTogether",
                  {},
                  {"tc qdisc add dev p0 clsact", "tc filter add dev p0 ingress" + matchAll},
                  "tc",
                  {"tc qdisc del dev p0 clsact"}},
        Condition{
            "EmptyClsactAtIngress", {}, {"tc qdisc add dev p0 clsact"}, "", {"tc qdisc del dev p0 clsact"}},
        Condition{
            "EmptyClsactAtEgress", {}, {"tc qdisc add dev p1 clsact"}, "", {"tc qdisc del dev p1 clsact"}},
        Condition{"EgressFilterOnTheIngressPort",
                  {"tc qdisc add dev p0 clsact"},
                  {"tc filter add dev p0 egress" + matchAll},
                  "",
                  {"tc filter del dev p0 egress"}},
        Condition{"FilterOnAnotherPort",
                  {"tc qdisc add dev p2 clsact"},
                  {"tc filter add dev p2 ingress" + matchAll},
                  "",
                  {"tc filter del dev p2 ingress"}},
        Condition{
            "FilterOfASharedBlock",
            {"tc qdisc add dev p2 ingress_block 5 clsact", "tc qdisc add dev p0 ingress_block 5 clsact"},
            {"tc filter add block 5" + matchAll},
            "tc",
            {"tc filter del block 5"}},
        Condition{"ChainOfASharedBlockThatGoes",
                  {"tc qdisc add dev p0 ingress_block 5 clsact"},
                  {"tc filter add block 5 chain 0" + matchAll},
                  "tc",
                  {"tc chain del block 5 chain 0"}},
        // Looks the same as before, and no filter is announced.
        Condition{"SharedBlockThatHasFilters",
                  {"tc qdisc add dev p2 ingress_block 5 clsact", "tc filter add block 5" + matchAll,
                   "tc qdisc add dev p0 clsact"},
                  {"tc qdisc del dev p0 clsact; tc qdisc add dev p0 ingress_block 5 clsact"},
                  "tc",
                  {"tc qdisc del dev p0 clsact; tc qdisc add dev p0 clsact"}},
        Condition{"SharedEgressBlockThatHasFilters",
                  {"tc qdisc add dev p2 egress_block 5 clsact", "tc filter add block 5" + matchAll,
                   "tc qdisc add dev p1 clsact"},
                  {"tc qdisc del dev p1 clsact; tc qdisc add dev p1 egress_block 5 clsact"},
                  "tc",
                  {"tc qdisc del dev p1 clsact; tc qdisc add dev p1 clsact"}}),
    nameOf);

Condition netdev(const char* name, const std::string& hook, const std::string& port,
                 const std::string& reason, const std::string& policy = "accept") {
    return {name,
            {"nft add table netdev t"},
            {"nft add chain netdev t c '{ type filter hook " + hook + " device " + port +
             " priority 0; policy " + policy + "; }'"},
            reason,
            {"nft delete chain netdev t c"}};
}

Condition bridgeFamily(const char* name, const std::string& hook, const std::string& reason,
                       const std::string& policy = "accept") {
    return {
        name,
        {"nft add table bridge t"},
        {"nft add chain bridge t c '{ type filter hook " + hook + " priority 0; policy " + policy + "; }'"},
        reason,
        {"nft delete chain bridge t c"}};
}

INSTANTIATE_TEST_SUITE_P(
    Netfilter, ConditionTest,
    ::testing::Values(netdev("NetdevIngress", "ingress", "p0", "netdev-hook"),
                      netdev("NetdevIngressThatDrops", "ingress", "p0", "netdev-hook", "drop"),
                      netdev("NetdevEgress", "egress", "p1", "netdev-hook"),
                      netdev("NetdevEgressThatDrops", "egress", "p1", "netdev-hook", "drop"),
                      netdev("NetdevIngressOfAnotherPort", "ingress", "p2", ""),
                      netdev("NetdevEgressOfTheIngressPort", "egress", "p0", ""),
                      bridgeFamily("BridgePrerouting", "prerouting", "bridge-netfilter"),
                      bridgeFamily("BridgeForward", "forward", "bridge-netfilter"),
                      bridgeFamily("BridgeForwardThatDrops", "forward", "bridge-netfilter", "drop"),
                      bridgeFamily("BridgePostrouting", "postrouting", "bridge-netfilter"),
                      bridgeFamily("BridgePostroutingThatDrops", "postrouting", "bridge-netfilter", "drop"),
                      bridgeFamily("BridgeInput", "input", ""), bridgeFamily("BridgeOutput", "output", "")),
    nameOf);

Condition brNetfilter(const char* name, const std::string& key, const std::string& reason) {
    return {name, {"sysctl " + key}, {"sysctl -qw " + key + "=1"}, reason, {"sysctl -qw " + key + "=0"}};
}

INSTANTIATE_TEST_SUITE_P(
    BrNetfilter, ConditionTest,
    ::testing::Values(
        brNetfilter("CallIptables", "net.bridge.bridge-nf-call-iptables", "br-netfilter"),
        brNetfilter("CallIp6tables", "net.bridge.bridge-nf-call-ip6tables", "br-netfilter"),
        brNetfilter("CallArptables", "net.bridge.bridge-nf-call-arptables", ""),
        Condition{"CallIptablesWithARuleThatDrops",
                  {"sysctl net.bridge.bridge-nf-call-iptables && nft add table ip t && nft add chain ip t c "
                   "'{ type filter hook forward priority 0; policy drop; }'"},
                  {"sysctl -qw net.bridge.bridge-nf-call-iptables=1"},
                  "br-netfilter",
                  {"sysctl -qw net.bridge.bridge-nf-call-iptables=0"}},
        Condition{"RulesOfIpWithoutBrNetfilter",
                  {"nft add table ip t"},
                  {"nft add chain ip t c '{ type filter hook forward priority 0; policy drop; }'"},
                  "",
                  {"nft delete chain ip t c"}}),
    nameOf);

} // namespace
} // namespace tna::test
