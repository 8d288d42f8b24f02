// SPDX-License-Identifier: Apache-2.0
#include "diff/random/bridging.hpp"

namespace tna::diff {

std::string bridgeWords(Chance& chance, const std::string& name, const std::string& mac) {
    // Who speaks within a test must not be forgotten in it.
    auto words = fmt::format("ip link add {} address {} type bridge ageing_time {} mcast_snooping {}", name,
                             mac, chance.oneOf({30000, 6400000, 6400000}), chance.once(3) ? 1 : 0);
    if (chance.once(12))
        words += " vlan_default_pvid 1 no_linklocal_learn 1";
    return words;
}

std::string portSetting(Chance& chance, const std::string& port, std::string& undo) {
    switch (chance.below(8)) {
    case 0:
    case 1:
        undo = fmt::format("bridge link set dev {} state 3", port);
        return fmt::format("bridge link set dev {} state {}", port, chance.below(3));
    case 2:
        undo = fmt::format("ip link set {} mtu 1500", port);
        return fmt::format("ip link set {} mtu {}", port, chance.oneOf({600, 1000, 1504, 4000, 9000}));
    case 3:
        undo = fmt::format("ip link set {} up", port);
        return fmt::format("ip link set {} down", port);
    default: {
        const std::string flag =
            chance.oneOf({"learning", "flood", "mcast_flood", "bcast_flood", "hairpin", "isolated", "locked",
                          "neigh_suppress", "vlan_tunnel", "guard", "fastleave", "mcast_to_unicast"});
        const bool usuallyOn = flag == "learning" || flag.ends_with("flood");
        undo = fmt::format("bridge link set dev {} {} {}", port, flag, usuallyOn ? "on" : "off");
        return fmt::format("bridge link set dev {} {} {}", port, flag, usuallyOn ? "off" : "on");
    }
    }
}

std::string entry(Chance& chance, const Topology& topology, const std::string& port,
                  const std::string& where) {
    const auto mac = text(chance.once(12) ? groupMac : chance.oneOf(topology.hosts).mac);
    if (chance.once(3))
        return fmt::format("bridge fdb del {} dev {} master{}", mac, port, where);
    if (chance.once(8))
        return fmt::format("ip link set {} type bridge_slave fdb_flush", port);
    return fmt::format(
        "bridge fdb replace {} dev {} master {}{}", mac, port,
        chance.oneOf({"static", "dynamic", "dynamic", "static sticky", "extern_learn", "permanent"}), where);
}

namespace {
class BridgeScenario : public Scenario {
public:
    BridgeScenario(Chance& chance, bool vlans) : Scenario(chance), vlans_(vlans) {
        const unsigned hosts = 6 + chance.below(8);
        const Addresses addresses(chance);
        for (unsigned i = 0; i < hosts; i++)
            topology_.hosts.push_back(
                {i % ports, 0, addresses.mac(i), address4(0, 10 + i), addresses.six(0, 10 + i)});
        topology_.gateways = {std::nullopt};
        if (!vlans)
            return;
        if (auto own = chance.apart(likeVlans); own.once(2)) {
            second_ = 266; // like the first one in its lower byte
            if (own.once(2))
                topology_.hosts[2].mac = topology_.hosts[0].mac; // one in both, behind different ports
        }
        topology_.vlans = {{0, 10}, {0, 10, second_}, {0, second_}, {0}};
    }

    std::vector<std::string> setup() override {
        std::vector<std::string> lines{noIpv6, bridgeWords(chance_, "br0", bridgeMac(0))};
        for (unsigned i = 0; i < ports; i++)
            lines.push_back(fmt::format("ip link set p{} master br0 up", i));
        lines.emplace_back("ip link set br0 up");
        for (auto& line : largeFrames())
            lines.push_back(std::move(line));
        if (chance_.once(3)) // ports of customers who are not to meet
            for (unsigned i = chance_.below(3); i < ports; i += 1 + chance_.below(2))
                lines.push_back(fmt::format("bridge link set dev p{} isolated on", i));
        if (!chance_.once(20))
            lines.emplace_back(noBridgeNetfilter);
        if (chance_.once(4)) {
            lines.emplace_back("ip address add 10.0.0.1/24 dev br0");
            topology_.gateways = {Mac{2, 0, 0, 0, 0xff, 0}};
        }
        if (vlans_)
            lines.insert(lines.end(),
                         {"ip link set br0 type bridge vlan_filtering 1", "bridge vlan add dev p0 vid 10",
                          "bridge vlan add dev p1 vid 10", "bridge vlan add dev p2 vid 10 untagged",
                          fmt::format("bridge vlan add dev p1 vid {}", second_),
                          fmt::format("bridge vlan add dev p2 vid {}", second_),
                          fmt::format("bridge vlan add dev p3 vid {} pvid untagged", second_)});
        return lines;
    }

private:
    std::vector<Step> newChange() override {
        if (vlans_ && chance_.once(2))
            return commands({vlan()});
        std::string undo;
        switch (chance_.below(12)) {
        case 0:
        case 1: {
            auto words = portSetting(chance_, port(), undo);
            undoBy(undo);
            return commands({words});
        }
        case 2:
            return carrier();
        case 3:
            return capture();
        case 4:
        case 8:
        case 9:
            return filter();
        case 5: {
            const auto which = port();
            undoBy(fmt::format("ip link set {} master br0", which));
            return commands({fmt::format("ip link set {} nomaster", which)});
        }
        case 6:
            return commands({bridgeSetting()});
        case 7: // a host moves
            topology_.hosts[chance_.below(topology_.hosts.size())].port = chance_.below(ports);
            return {};
        default:
            return commands({entry(chance_, topology_, port(),
                                   vlans_ ? chance_.oneOf({"", " vlan 1", " vlan 10", " vlan 20"}) : "")});
        }
    }

    std::string inVlan() {
        const auto vlan = chance_.oneOf<unsigned>({0, 1, 10, second_});
        return vlan == 0 ? "" : fmt::format(" vlan {}", vlan);
    }

    std::string bridgeSetting() {
        struct Setting {
            const char *set, *unset;
        };
        const auto [set, unset] = chance_.oneOf<Setting>(
            {{"ip link set br0 promisc on", "ip link set br0 promisc off"},
             {"sysctl -qw net.bridge.bridge-nf-call-iptables=1",
              "sysctl -qw net.bridge.bridge-nf-call-iptables=0"},
             {"ip link set br0 type bridge mcast_snooping 1", "ip link set br0 type bridge mcast_snooping 0"},
             {"ip link set br0 mtu 1000", "ip link set br0 mtu 1500"},
             {"ip link set br0 address 02:00:00:00:ff:77", "ip link set br0 address 02:00:00:00:ff:00"},
             {"ip link set br0 type bridge group_fwd_mask 0x4000",
              "ip link set br0 type bridge group_fwd_mask 0"},
             {"ip link set br0 down", "ip link set br0 up"},
             {"ip link set br0 type bridge ageing_time 3200000",
              "ip link set br0 type bridge ageing_time 6400000"}});
        undoBy(unset);
        return set;
    }

    std::string vlan() {
        const auto which = port();
        const auto words = fmt::format("dev {} vid {}", which, chance_.oneOf<unsigned>({1, 10, second_}));
        switch (chance_.below(8)) {
        case 0:
            undoBy("bridge vlan add " + words);
            return "bridge vlan del " + words;
        case 1:
            undoBy("bridge vlan set " + words + " state forwarding");
            return "bridge vlan set " + words + " state " +
                   chance_.oneOf({"disabled", "listening", "learning", "blocking"});
        case 2:
            return "bridge vlan add dev br0 vid 10 self";
        case 3:
            undoBy("ip link set br0 type bridge vlan_protocol 802.1Q");
            return "ip link set br0 type bridge vlan_protocol 802.1ad";
        case 4:
            undoBy("ip link set br0 type bridge vlan_filtering 1");
            return "ip link set br0 type bridge vlan_filtering 0";
        default:
            return "bridge vlan add " + words + chance_.oneOf({"", " untagged", " pvid", " pvid untagged"});
        }
    }

    static constexpr std::uint64_t likeVlans = 3;
    bool vlans_;
    unsigned second_ = 20; ///< VLAN besides 10
};
} // namespace

std::unique_ptr<Scenario> bridgeScenario(Chance& chance, bool vlans) {
    return std::make_unique<BridgeScenario>(chance, vlans);
}

} // namespace tna::diff
