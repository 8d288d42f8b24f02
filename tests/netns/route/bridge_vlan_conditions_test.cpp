// SPDX-License-Identifier: Apache-2.0
// What routing from one VLAN of a bridge to another meets: at the ports, at the bridge, at its VLAN devices.
#include "bridge_vlan_fixture.hpp"

#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <set>
#include <sys/socket.h>

namespace tna::test {
namespace {

class InterVlan : public BridgeVlans<RouteTest> {
protected:
    void SetUp() override {
        BridgeVlans<RouteTest>::SetUp();
        if (IsSkipped())
            return;
        interVlan();
        for (const std::string device : {"p0", "br0", "v0", "v1", "p1"})
            must("tc qdisc add dev " + device + " clsact");
        must("nft add table netdev t");
        atLast(in(), out());
    }
    static Frame in(std::size_t payload = 26) { return tagged(packet({.payload = payload}), 10); }
    /// What becomes of in().
    static Arrivals out(std::size_t payload = 26) {
        return {{1, {tagged(further(packet({.payload = payload})), 20)}}};
    }
    static Condition one(const std::string& set, const std::string& reason, const std::string& unset) {
        static std::set<std::string> names; // that last
        return {names.insert(set).first->c_str(), {}, {set}, reason, {unset}, in()};
    }
    static Condition port(const std::string& device, const std::string& on, const std::string& off,
                          const std::string& reason = {}) {
        const auto set = "bridge link set dev " + device + " ";
        return one(set + on, reason, set + off);
    }
    static Condition option(const std::string& option, const std::string& reason = {}) {
        const auto set = "ip link set br0 type bridge " + option + " ";
        return one(set + "1", reason, set + "0");
    }
    static Condition filter(const std::string& device, const std::string& direction,
                            const std::string& reason = "tc") {
        return one("tc filter add dev " + device + " " + direction +
                       " protocol all u32 match u32 0 0 flowid 1:1",
                   reason, "tc filter del dev " + device + " " + direction);
    }
    static Condition hook(const std::string& device, const std::string& direction,
                          const std::string& reason = "netdev-hook") {
        return one("nft add chain netdev t c '{ type filter hook " + direction + " device " + device +
                       " priority 0; policy drop; }'",
                   reason, "nft delete chain netdev t c");
    }
    static Condition queue(const std::string& device) {
        return one("tc qdisc add dev " + device + " root tbf rate 1gbit burst 1m latency 50ms",
                   "egress-qdisc", "tc qdisc del dev " + device + " root");
    }
    static std::vector<Condition> partsInVlans();
    static std::vector<Condition> portsAndOptions();
    static std::vector<Condition> stations();
    static std::vector<Condition> filters();
    static std::vector<Condition> devices();
};

std::vector<Condition> InterVlan::partsInVlans() {
    return {
        one("bridge vlan del vid 10 dev p0", "vlan", "bridge vlan add vid 10 dev p0"),
        one("bridge vlan del vid 10 dev br0 self", "vlan", "bridge vlan add vid 10 dev br0 self"),
        one("bridge vlan del vid 20 dev br0 self", "vlan", "bridge vlan add vid 20 dev br0 self"),
        one("bridge vlan del vid 20 dev p0", "", "bridge vlan add vid 20 dev p0"),
        one("bridge vlan del vid 10 dev p1", "", "bridge vlan add vid 10 dev p1"),
        one("bridge vlan del vid 20 dev p1", "egress-vlan",
            "bridge vlan add vid 20 dev p1 && bridge fdb replace " + text(station(2)) +
                " dev p1 master static vlan 20"),
        one("bridge vlan set vid 10 dev p0 state blocking", "vlan",
            "bridge vlan set vid 10 dev p0 state forwarding"),
        one("bridge vlan set vid 20 dev p1 state blocking", "egress-vlan",
            "bridge vlan set vid 20 dev p1 state forwarding"),
        one("bridge vlan add vid 20 dev p1 untagged", "", "bridge vlan add vid 20 dev p1"),
        one("bridge vlan add vid 30 dev br0 self pvid untagged", "", "bridge vlan del vid 30 dev br0 self")};
}

std::vector<Condition> InterVlan::portsAndOptions() {
    return {port("p0", "state 1", "state 3", "stp-state"),
            port("p0", "state 2", "state 3", "stp-state"),
            port("p0", "learning off", "learning on", "port-flags"),
            port("p0", "isolated on", "isolated off"),
            port("p1", "state 2", "state 3", "egress-stp-state"),
            port("p1", "locked on", "locked off", "egress-port-flags"),
            option("nf_call_iptables", "bridge-options"),
            option("vlan_stats_enabled", "bridge-options"),
            one("ip link set br0 type bridge vlan_filtering 0", "bridge-options",
                "ip link set br0 type bridge vlan_filtering 1"),
            one("ip link set br0 type bridge vlan_protocol 802.1ad", "bridge-options",
                "ip link set br0 type bridge vlan_protocol 802.1q"),
            one("ip link set br0 promisc on", "bridge-promisc", "ip link set br0 promisc off"),
            one("ip link set v1 promisc on", "bridge-promisc", "ip link set v1 promisc off")};
}

std::vector<Condition> InterVlan::stations() {
    const auto fdb = [](const std::string& set, const std::string& reason, const std::string& unset) {
        return one("bridge fdb " + set, reason, "bridge fdb " + unset);
    };
    const auto next = text(station(2)), sender = text(station(1));
    const auto usual = "replace " + next + " dev p1 master static vlan 20";
    return {fdb("replace " + next + " dev p0 master static vlan 20", "", usual),
            fdb("del " + next + " dev p1 master vlan 20", "unknown-unicast", usual),
            fdb("replace " + next + " dev p1 master permanent vlan 20", "local", usual),
            fdb("replace " + next + " dev p0 master static vlan 10", "",
                "del " + next + " dev p0 master vlan 10"),
            fdb("replace " + sender + " dev p1 master static vlan 10", "source-unknown",
                "replace " + sender + " dev p0 master static vlan 10"),
            fdb("replace " + sender + " dev p1 master static vlan 20", "",
                "del " + sender + " dev p1 master vlan 20")};
}

std::vector<Condition> InterVlan::filters() {
    std::vector<Condition> conditions{filter("v1", "ingress", ""),
                                      filter("v0", "egress", ""),
                                      hook("v1", "ingress", ""),
                                      queue("v1"),
                                      queue("br0"),
                                      queue("p1")};
    for (const char* device : {"p0", "br0", "v0"})
        for (const auto& condition : {filter(device, "ingress"), hook(device, "ingress")})
            conditions.push_back(condition);
    for (const char* device : {"p1", "br0", "v1"})
        for (const auto& condition : {filter(device, "egress"), hook(device, "egress")})
            conditions.push_back(condition);
    return conditions;
}

std::vector<Condition> InterVlan::devices() {
    const auto known = [](const char* device, unsigned number) {
        const auto n = std::to_string(number);
        return " && ip neigh replace 10.0." + n + ".2 lladdr " + text(station(number + 1)) + " dev " +
               device + " nud permanent";
    };
    const std::string again = "ip link set v0 address " + text(portMac(0)) + " && ip link set v1 address " +
                              text(portMac(0)) + known("v0", 0) + known("v1", 1);
    return {one("ip link set v0 down", "vlan-settings", "ip link set v0 up" + known("v0", 0)),
            one("ip link set v0 type vlan reorder_hdr off", "vlan-settings",
                "ip link set v0 type vlan reorder_hdr on"),
            one("ip link set v1 type vlan reorder_hdr off", "vlan-settings",
                "ip link set v1 type vlan reorder_hdr on"),
            one("ip link set v1 type vlan egress-qos-map 0:3", "vlan-settings",
                "ip link set v1 type vlan egress-qos-map 0:0"),
            one("ip link set v0 type vlan ingress-qos-map 0:3", "",
                "ip link set v0 type vlan ingress-qos-map 0:0"),
            one("sysctl -qw net.ipv4.conf.v0.forwarding=0", "not-forwarding",
                "sysctl -qw net.ipv4.conf.v0.forwarding=1"),
            one("sysctl -qw net.ipv4.conf.br0.forwarding=0", "", "sysctl -qw net.ipv4.conf.br0.forwarding=1"),
            one("sysctl -qw net.ipv4.conf.v0.rp_filter=1", "", "sysctl -qw net.ipv4.conf.v0.rp_filter=0"),
            one("ip link set v0 address 02:00:00:00:09:09", "bridge-promisc", again),
            one("ip link set v1 address 02:00:00:00:09:09", "bridge-promisc", again),
            one("ip link add link p0 name q0 type vlan id 11 && ip link set q0 up", "vlan-device",
                "ip link del q0")};
}

/// All in one test: the fast path is loaded once for them.
TEST_F(InterVlan, Conditions) {
    std::vector<Condition> all;
    for (const auto& some : {partsInVlans(), portsAndOptions(), stations(), filters(), devices()})
        all.insert(all.end(), some.begin(), some.end());
    expectAllTo(all, [](const Frame&) { return out(); });
}

TEST_F(InterVlan, WhoeverCapturesSeesEveryPacket) {
    accelerate();
    struct Case {
        const char* interface;
        int protocol;
    };
    for (const auto& [interface, protocol] :
         {Case{"p0", ETH_P_ALL}, Case{"br0", ETH_P_ALL}, Case{"v0", ETH_P_ALL}, Case{"v1", ETH_P_ALL},
          Case{"p1", ETH_P_ALL}, Case{"br0", ETH_P_IP}, Case{"v0", ETH_P_IP}}) {
        SCOPED_TRACE(std::string(interface) + " " + std::to_string(protocol));
        expectFastTo(in(), out());
        const auto socket = capture(interface, protocol);
        EXPECT_EQ(treat(in()), (Treatment{slowPath("capture"), out()}));
        std::array<char, 2048> buffer{};
        EXPECT_GT(::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT), 0);
    }
}

TEST_F(InterVlan, GenericXdpProgramsSeeWhatIsRouted) {
    accelerate();
    for (const char* device : {"br0", "v0"}) {
        SCOPED_TRACE(device);
        expectFastTo(in(), out());
        whileItDropsAll(device, [&] { EXPECT_EQ(treat(in()), (Treatment{slowPath("generic-xdp"), {}})); });
    }
    expectFastTo(in(), out());
}

TEST_F(InterVlan, DevicesThatMoveToAnotherNamespace) {
    accelerate();
    expectFastTo(in(), out());
    const Namespace other;
    must("ip link set v1 netns " + other.name());
    EXPECT_EQ(treat(in()).path.fast, 0U);
    must("ip link set v0 netns " + other.name());
    EXPECT_EQ(treat(in()).path.fast, 0U);
}

} // namespace
} // namespace tna::test
