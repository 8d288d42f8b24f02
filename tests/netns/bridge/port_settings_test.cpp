// SPDX-License-Identifier: Apache-2.0
// Everything a bridge and its ports can be set to.
#include "condition.hpp"
#include "support/bridge_netlink.hpp"

namespace tna::test {
namespace {

std::string set(const std::string& port, const std::string& what) {
    return "bridge link set dev " + port + " " + what;
}
std::string bridge(const std::string& what) {
    return "ip link set br0 type bridge " + what;
}

/// A flag that is switched on and off again.
Condition flag(const char* name, const std::string& port, const std::string& flag,
               const std::string& reason = {}) {
    return {name,
            {set(port, flag + " on") + " && " + set(port, flag + " off")},
            {set(port, flag + " on")},
            reason,
            {set(port, flag + " off")}};
}

/// One that is on at first.
Condition unflag(const char* name, const std::string& port, const std::string& flag,
                 const std::string& reason = {}) {
    return {name, {}, {set(port, flag + " off")}, reason, {set(port, flag + " on")}};
}

Condition option(const char* name, const std::string& on, const std::string& off,
                 const std::string& reason = {}) {
    return {name, {bridge(on) + " && " + bridge(off)}, {bridge(on)}, reason, {bridge(off)}};
}

INSTANTIATE_TEST_SUITE_P(
    PortState, ConditionTest,
    ::testing::Values(
        Condition{"IngressDisabled", {}, {set("p0", "state 0")}, "stp-state", {set("p0", "state 3")}},
        Condition{"IngressListening", {}, {set("p0", "state 1")}, "stp-state", {set("p0", "state 3")}},
        Condition{"IngressLearning", {}, {set("p0", "state 2")}, "stp-state", {set("p0", "state 3")}},
        Condition{"EgressDisabled", {}, {set("p1", "state 0")}, "egress-stp-state", {set("p1", "state 3")}},
        Condition{"EgressListening", {}, {set("p1", "state 1")}, "egress-stp-state", {set("p1", "state 3")}},
        Condition{"EgressLearning", {}, {set("p1", "state 2")}, "egress-stp-state", {set("p1", "state 3")}}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    PortFlags, ConditionTest,
    ::testing::Values(
        unflag("IngressLearningOff", "p0", "learning", "port-flags"),
        unflag("EgressLearningOff", "p1", "learning"), flag("IngressLocked", "p0", "locked", "port-flags"),
        flag("EgressLocked", "p1", "locked", "egress-port-flags"),
        flag("IngressVlanTunnel", "p0", "vlan_tunnel", "port-flags"),
        flag("EgressVlanTunnel", "p1", "vlan_tunnel", "egress-port-flags"),
        flag("IngressNeighbourSuppression", "p0", "neigh_suppress", "bridge-options"),
        flag("EgressNeighbourSuppression", "p1", "neigh_suppress", "bridge-options"),
        flag("OtherPortNeighbourSuppression", "p2", "neigh_suppress", "bridge-options"),
        Condition{"BothIsolated",
                  {set("p0", "isolated on")},
                  {set("p1", "isolated on")},
                  "isolated",
                  {set("p1", "isolated off")}},
        flag("IngressIsolated", "p0", "isolated"), flag("EgressIsolated", "p1", "isolated"),
        flag("IngressHairpin", "p0", "hairpin"), flag("EgressHairpin", "p1", "hairpin"),
        unflag("EgressFloodOff", "p1", "flood"), unflag("IngressFloodOff", "p0", "flood"),
        unflag("EgressMulticastFloodOff", "p1", "mcast_flood"),
        unflag("EgressBroadcastFloodOff", "p1", "bcast_flood"),
        flag("EgressMulticastToUnicast", "p1", "mcast_to_unicast"),
        flag("IngressFastleave", "p0", "fastleave"), flag("IngressBpduGuard", "p0", "guard"),
        flag("EgressBpduGuard", "p1", "guard"), flag("EgressRootBlock", "p1", "root_block"),
        Condition{"EgressProxyArp", {"ip link set p1 type bridge_slave proxy_arp on"}, {}, "", {}},
        Condition{"IngressProxyArpWifi", {"ip link set p0 type bridge_slave proxy_arp_wifi on"}, {}, "", {}},
        Condition{"BackupPortWhileTheEgressPortWorks",
                  {set("p1", "backup_port p2") + " && " + set("p1", "nobackup_port")},
                  {set("p1", "backup_port p2")},
                  "",
                  {set("p1", "nobackup_port")}}),
    nameOf);

INSTANTIATE_TEST_SUITE_P(
    BridgeOptions, ConditionTest,
    ::testing::Values(
        option("VlanFiltering", "vlan_filtering 1", "vlan_filtering 0", "bridge-options"),
        option("NfCallIptables", "nf_call_iptables 1", "nf_call_iptables 0", "bridge-options"),
        option("NfCallIp6tables", "nf_call_ip6tables 1", "nf_call_ip6tables 0", "bridge-options"),
        option("NfCallArptables", "nf_call_arptables 1", "nf_call_arptables 0", "bridge-options"),
        option("MulticastSnooping", "mcast_snooping 1", "mcast_snooping 0"),
        option("MulticastQuerier", "mcast_snooping 1 mcast_querier 1", "mcast_snooping 0 mcast_querier 0"),
        option("GroupForwardMask", "group_fwd_mask 0xfff8", "group_fwd_mask 0"),
        option("VlanStatistics", "vlan_stats_enabled 1", "vlan_stats_enabled 0"),
        option("NoLinkLocalLearning", "no_linklocal_learn 1", "no_linklocal_learn 0"),
        option("MultipleSpanningTrees", "mst_enabled 1", "mst_enabled 0", "bridge-options"),
        Condition{"GroupAddress", {bridge("group_address 01:80:c2:00:00:05")}, {}, "", {}},
        Condition{"BridgeMtuSetByUser", {"ip link set br0 mtu 1400"}, {}, "", {}},
        Condition{"PromiscuousBridge",
                  {},
                  {"ip link set br0 promisc on"},
                  "bridge-promisc",
                  {"ip link set br0 promisc off"}}),
    nameOf);

/// Flags that bridge(8) may be too old for.
class NewFlags : public BridgeTest {
protected:
    void SetUp() override {
        BridgeTest::SetUp();
        if (!IsSkipped())
            learn();
        if (!IsSkipped())
            accelerate();
    }
    void expectSlowWith(const std::string& port, std::uint16_t attribute, const std::string& reason) {
        const Treatment usual{fastPath(), {{1, {oneToTwo()}}}};
        ASSERT_EQ(treat(oneToTwo()), usual);
        if (const int error = setPortFlag(port, attribute, true); error != 0)
            GTEST_SKIP() << "this kernel has no such flag: " << std::strerror(error);
        EXPECT_EQ(treat(oneToTwo()), (Treatment{slowPath(reason), usual.out}));
        EXPECT_EQ(setPortFlag(port, attribute, false), 0);
        EXPECT_EQ(treat(oneToTwo()), usual);
    }
    static constexpr std::uint16_t neighbourVlanSuppression = 43; // IFLA_BRPORT_NEIGH_VLAN_SUPPRESS
};

TEST_F(NewFlags, IngressNeighbourVlanSuppression) {
    expectSlowWith("p0", neighbourVlanSuppression, "bridge-options");
}
TEST_F(NewFlags, EgressNeighbourVlanSuppression) {
    expectSlowWith("p1", neighbourVlanSuppression, "bridge-options");
}

} // namespace
} // namespace tna::test
