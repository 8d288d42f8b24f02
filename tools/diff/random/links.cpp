// SPDX-License-Identifier: Apache-2.0
// Devices of all kinds that the running kernel makes: as ports of bridges, below a port's place, on top of
// ports, and as what routes lead to.
#include "diff/random/extension.hpp"
#include "diff/random/machine.hpp"

#include <fmt/format.h>

namespace tna::diff {

namespace {
/// How a device is made, called x0; {0} is a port. Without a queue, macvlan drops what is for groups; from
/// the queue, a worker would hand it over when it likes.
struct LinkKind {
    const char* words;
    bool over = false;    ///< what it gets and sends are the port's frames
    bool slaves = false;  ///< the port becomes its slave afterwards
    bool ethernet = true; ///< it has a MAC address of its own
};
constexpr LinkKind kinds[] = {
    {"ip link add x0 {1} type bond mode active-backup", true, true},
    {"ip link add x0 {1} type bond mode balance-xor xmit_hash_policy layer2", true, true},
    {"ip link add x0 {1} type bond mode balance-xor xmit_hash_policy layer3+4", true, true},
    {"ip link add x0 {1} type bond mode balance-rr", true, true},
    {"ip link add x0 {1} type bond mode broadcast", true, true},
    {"ip link add x0 {1} type team", true, true},
    {"ip link add x0 {1} link {0} type macvlan bcqueuelen 0 mode bridge", true},
    {"ip link add x0 {1} link {0} type macvlan bcqueuelen 0 mode private", true},
    {"ip link add x0 {1} link {0} type macvlan bcqueuelen 0 mode vepa", true},
    {"ip link add x0 link {0} type macvlan bcqueuelen 0 mode passthru", true},
    {"ip link add x0 {1} link {0} type macvlan bcqueuelen 0 mode source macaddr add 02:00:00:00:00:01", true},
    {"ip link add x0 {1} link {0} type macvtap bcqueuelen 0 mode bridge", true},
    {"ip link add x0 link {0} type macvtap bcqueuelen 0 mode passthru", true},
    {"ip link add x0 link {0} type ipvlan mode l2", true, false, false},
    {"ip link add x0 link {0} type ipvlan mode l3", true, false, false},
    {"ip link add x0 link {0} type ipvlan mode l3s", true, false, false},
    {"ip link add x0 link {0} type ipvtap", true, false, false},
    {"ip link add x0 {1} link {0} type vlan id 5", true},
    {"ip link add x0 {1} link {0} type vlan id 0", true},
    {"ip link add x0 {1} link {0} type vlan protocol 802.1ad id 5", true},
    {"ip link add x0 {1} link {0} type macsec", true},
    {"ip link add x0 {1} type hsr slave1 {0} slave2 p3", true},
    {"ip link add x0 {1} type batadv", false, true},
    {"ip link add x0 {1} type vxlan id 7 dstport 4789 dev {0} remote 10.0.1.2"},
    {"ip link add x0 {1} type vxlan id 7 dstport 4789 local 10.0.0.1 group 239.1.1.1 dev {0}"},
    {"ip link add x0 {1} type geneve id 7 remote 10.0.1.2"},
    {"ip link add x0 type bareudp dstport 99 ethertype ipv4", false, false, false},
    {"ip link add x0 type gre local 10.0.0.1 remote 10.0.1.2 dev {0}", false, false, false},
    {"ip link add x0 {1} type gretap local 10.0.0.1 remote 10.0.1.2"},
    {"ip link add x0 type ip6gre local fd00::1 remote fd00:0:0:1::2", false, false, false},
    {"ip link add x0 {1} type ip6gretap local fd00::1 remote fd00:0:0:1::2"},
    {"ip link add x0 {1} type erspan local 10.0.0.1 remote 10.0.1.2 seq key 1 erspan_ver 1 erspan 1"},
    {"ip link add x0 type ipip local 10.0.0.1 remote 10.0.1.2", false, false, false},
    {"ip link add x0 type sit local 10.0.0.1 remote 10.0.1.2", false, false, false},
    {"ip link add x0 type ip6tnl local fd00::1 remote fd00:0:0:1::2", false, false, false},
    {"ip link add x0 type vti local 10.0.0.1 remote 10.0.1.2 key 5", false, false, false},
    {"ip link add x0 type xfrm dev {0} if_id 3", false, false, false},
    {"ip link add x0 type wireguard", false, false, false},
    {"ip link add x0 {1} type ifb"},
    {"ip link add x0 {1} type dummy"},
    {"ip link add x0 {1} type veth peer name y0 address 02:00:00:00:ff:61 && ip link set y0 up"},
    {"ip link add x0 {1} type bridge"},
    {"ip link add x0 type vrf table 99", false, true, false},
    {"ip link add x0 type nlmon", false, false, false},
    {"ip link add x0 type netkit mode l2 peer name y0 && ip link set y0 up"},
    {"ip link add x0 type netkit mode l3 peer name y0 && ip link set y0 up", false, false, false},
    {"ip tuntap add dev x0 mode tap"},
    {"ip tuntap add dev x0 mode tun", false, false, false},
    {"ip link add x0 type vcan", false, false, false},
    {"ip link add x0 {1} type amt mode relay local 10.0.0.1 dev {0} max_tunnels 2"},
};
constexpr const char* address = "address 02:00:00:00:ff:60";

/// Those that there are; asked for once.
const std::vector<LinkKind>& kernelsKinds() {
    static const std::vector<LinkKind> found = [] {
        std::vector<std::string> commands;
        for (const auto& kind : kinds)
            commands.push_back(fmt::format(fmt::runtime(kind.words), "{0}", address));
        std::vector<LinkKind> made;
        for (const auto which : accepted(commands))
            made.push_back(kinds[which]);
        return made;
    }();
    return found;
}

class LinksScenario : public Extension {
public:
    explicit LinksScenario(Chance& chance) : Extension(chance, anyUsual(chance)) {}

private:
    std::vector<Step> ownChange() override {
        if (kernelsKinds().empty())
            return {};
        const auto& kind = chance_.oneOf(kernelsKinds());
        const auto number = chance_.below(ports - 1);
        const auto below = "p" + std::to_string(number);
        std::vector<std::string> lines{
            fmt::format(
                "master=$(readlink /sys/class/net/{0}/master); other=$(readlink /sys/class/net/p3/master)",
                below),
            fmt::format(fmt::runtime(kind.words), below, address)};
        // What it would say when it likes would be inside something else.
        lines.emplace_back("for i in x0 y0; do [ ! -e /proc/sys/net/ipv6/conf/$i ] || sysctl -qw "
                           "net.ipv6.conf.$i.disable_ipv6=1 net.ipv4.neigh.$i.mcast_solicit=0 "
                           "net.ipv6.neigh.$i.mcast_solicit=0 net.ipv4.neigh.$i.ucast_solicit=0; done");
        if (kind.slaves)
            slaves(lines, below);
        use(lines, kind, number);
        if (chance_.once(2))
            obstacle(lines, kind.over && chance_.once(2) ? below : "x0");
        std::string undo =
            fmt::format("ip link del x0; nft delete table netdev t; tc qdisc del dev {0} clsact; "
                        "tc qdisc del dev {0} root",
                        below);
        for (const auto& [port, master] : {std::pair{below, "master"}, {std::string("p3"), "other"}})
            undo += fmt::format(
                "; [ -z \"${1}\" ] || ip link set {0} master ${{{1}##*/}}; ip link set {0} up", port, master);
        undoBy(undo + "; " + restoration());
        return commands(lines);
    }

    /// Ports that belong to it.
    void slaves(std::vector<std::string>& lines, const std::string& below) {
        for (const auto& port : chance_.once(2) ? std::vector{below} : std::vector{below, std::string("p3")})
            lines.push_back(
                fmt::format("ip link set {0} down; ip link set {0} nomaster; ip link set {0} master x0 && "
                            "ip link set {0} up",
                            port));
    }

    /// What it is there for.
    void use(std::vector<std::string>& lines, const LinkKind& kind, unsigned number) {
        const auto below = "p" + std::to_string(number);
        const bool bridged = topology().devices.empty() || topology().devices[0] == "br0";
        if (bridged && chance_.once(2)) { // a port, in the place of the other one
            if (kind.over && !kind.slaves)
                lines.push_back(fmt::format("ip link set {} nomaster; ip link set x0 up", below));
            lines.emplace_back("ip link set x0 master br0; ip link set x0 up");
            if (chance_.once(3))
                lines.push_back("bridge link set dev x0 " +
                                chance_.oneOf({"isolated on", "learning off", "flood off", "hairpin on"}));
            return;
        }
        lines.emplace_back("ip link set x0 up");
        if (chance_.once(3))
            return; // it is just there
        const auto net = kind.over ? netOf(number) : 40U;
        if (kind.over) // what was the port's
            lines.push_back(fmt::format("ip address flush dev {}", deviceOf(number)));
        std::string words = "sysctl -qw net.ipv4.conf.x0.rp_filter=0; ";
        if (kind.over)
            words += "sysctl -qw net.ipv6.conf.x0.addr_gen_mode=1 net.ipv6.conf.x0.disable_ipv6=0; ip "
                     "address add " +
                     text6(address6(net, 1)) + "/64 dev x0 nodad; ";
        words += fmt::format("ip address add 10.0.{}.1/24 dev x0", net);
        for (const auto& host : topology().hosts)
            if (host.net == net)
                words += fmt::format(
                    "; ip neigh replace {0} lladdr {2} dev x0 nud permanent; ip neigh replace {1} "
                    "lladdr {2} dev x0 nud permanent",
                    text4(host.ip4), text6(host.ip6), text(host.mac));
        lines.push_back(words);
        if (kind.over && kind.ethernet && chance_.once(2) && net < topology().gateways.size() &&
            topology().gateways[net])
            lines.push_back("ip link set x0 address " + text(*topology().gateways[net]));
        const auto next = kind.over ? way(false) : std::string("10.0.40.2");
        lines.push_back(
            fmt::format("ip neigh replace 10.0.40.2 lladdr 02:00:00:00:00:02 dev x0 nud permanent; "
                        "ip route replace 10.9.0.0/16 {}",
                        chance_.once(2) ? "dev x0" : "via " + next));
    }

    [[nodiscard]] unsigned netOf(unsigned port) {
        for (const auto& host : topology().hosts)
            if (host.port == port)
                return host.net;
        return 0;
    }
    [[nodiscard]] std::string deviceOf(unsigned port) {
        const auto net = netOf(port);
        return net < topology().devices.size() ? topology().devices[net] : "br0";
    }

    /// What keeps frames from going, on the way out of it or of what it is made of.
    void obstacle(std::vector<std::string>& lines, const std::string& device) {
        switch (chance_.below(5)) {
        case 0:
        case 1:
            lines.push_back(
                fmt::format("tc qdisc add dev {0} clsact; tc filter add dev {0} {1} protocol all u32 match "
                            "u32 0 0 flowid 1:1 action drop",
                            device, chance_.oneOf({"egress", "egress", "ingress"})));
            break;
        case 2:
            lines.push_back(fmt::format("tc qdisc add dev {} root {}", device,
                                        chance_.oneOf({"blackhole", "bfifo limit 100", "pfifo limit 0",
                                                       "netem loss 100%", "fq_codel memory_limit 1"})));
            break;
        case 3:
            lines.push_back(
                fmt::format("nft add table netdev t && nft add chain netdev t c '{{ type filter hook {} "
                            "device {} priority 0; policy drop; }}'",
                            chance_.oneOf({"egress", "egress", "ingress"}), device));
            break;
        default:
            lines.push_back(
                fmt::format("ip link set {} {}", device,
                            chance_.oneOf({"mtu 1000", "mtu 1400", "promisc on", "down", "arp off",
                                           "multicast off", "address 02:00:00:00:ff:66"})));
        }
    }
};
} // namespace

std::unique_ptr<Scenario> linksScenario(Chance& chance) {
    return std::make_unique<LinksScenario>(chance);
}

} // namespace tna::diff
