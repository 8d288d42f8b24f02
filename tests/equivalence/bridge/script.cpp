// SPDX-License-Identifier: Apache-2.0
#include "script.hpp"

#include <fmt/format.h>
#include <utility>

namespace tna::test {

namespace {
constexpr std::size_t stations = 8;
}

std::string Script::port() {
    return "p" + std::to_string(below(4));
}

Mac Script::address(bool source) {
    if (below(12) != 0)
        return station(static_cast<unsigned>(below(stations)));
    if (source)
        return oneOf<Mac>({station(77), Mac{}, Mac{1, 0, 0x5e, 0, 0, 1}, Mac{2, 0, 0, 0, 0xff, 0}});
    return oneOf<Mac>({station(78), Mac{}, Mac{1, 0, 0x5e, 0, 0, 1}, Mac{1, 0x80, 0xc2, 0, 0, 0},
                       Mac{1, 0x80, 0xc2, 0, 0, 0x0e}, Mac{255, 255, 255, 255, 255, 255},
                       Mac{2, 0, 0, 0, 0xff, 0}, Mac{2, 0, 0, 0, 0xff, 0x11}});
}

Frame Script::frame() {
    FrameBuilder builder;
    const auto destination = address(false);
    builder.ethernet(destination, address(true));
    if (below(vlans_ ? 2 : 5) == 0)
        builder.vlan(below(vlans_ ? 6 : 2) == 0 ? 0x88a8 : 0x8100, tci());
    if (vlans_ && below(12) == 0)
        builder.vlan(oneOf<std::uint16_t>({0x8100, 0x88a8}), tci());
    auto frame = below(6) == 0 ? builder
                                     .etherType(oneOf<std::uint16_t>({0x0806, 0x8035, 0x88e3, 0x8902, 0x0026,
                                                                      0x86dd, 0x88cc, 0x88b5, 0x0800}))
                                     .raw(below(100))
                               : builder.udp(oneOf<std::size_t>({18, 18, 100, 900, 961, 1000, 1400, 1472}));
    if (below(20) == 0)
        frame.bytes.back() ^= 0xffU;
    return frame;
}

/// With VLANs, mostly of those that are there.
std::uint16_t Script::tci() {
    if (!vlans_)
        return static_cast<std::uint16_t>(number());
    const auto priority = below(3) == 0 ? below(16) << 12U : 0;
    return static_cast<std::uint16_t>(priority | oneOf<unsigned>({0, 1, 10, 10, 10, 20, 20, 30, 4095}));
}

std::vector<Change> Script::start() {
    if (!vlans_)
        return {};
    std::vector<Change> changes{{"ip link set br0 type bridge vlan_filtering 1"}};
    for (const char* words : {"p0 vid 10", "p1 vid 10", "p2 vid 10 untagged", "p1 vid 20", "p2 vid 20",
                              "p3 vid 20 pvid untagged"})
        changes.push_back({std::string("bridge vlan add dev ") + words});
    return changes;
}

std::string Script::vlan() {
    const auto vid = oneOf({"1", "10", "20"});
    const auto which = port();
    const auto words = fmt::format("dev {} vid {}", which, vid);
    switch (below(8)) {
    case 0:
        undo_ = fmt::format("bridge vlan add {}", words);
        return fmt::format("bridge vlan del {}", words);
    case 1:
        undo_ = fmt::format("bridge vlan set {} state forwarding", words);
        return fmt::format("bridge vlan set {} state {}", words,
                           oneOf({"disabled", "listening", "learning", "blocking"}));
    case 2:
        return fmt::format("bridge vlan add dev br0 vid {} self", vid);
    case 3:
        undo_ = "ip link set br0 type bridge vlan_protocol 802.1Q";
        return "ip link set br0 type bridge vlan_protocol 802.1ad";
    case 4:
        undo_ = "ip link set br0 type bridge vlan_filtering 1";
        return "ip link set br0 type bridge vlan_filtering 0";
    default:
        return fmt::format("bridge vlan add {}{}", words,
                           oneOf({"", " untagged", " pvid", " pvid untagged"}));
    }
}

std::string Script::portSetting() {
    const auto which = port();
    if (below(4) == 0) {
        undo_ = "bridge link set dev " + which + " state 3";
        return fmt::format("bridge link set dev {} state {}", which, below(3));
    }
    if (below(6) == 0)
        return fmt::format("ip link set {} mtu {}", which, oneOf({1000, 1500, 1500}));
    const std::string flag =
        oneOf({"learning", "flood", "mcast_flood", "bcast_flood", "hairpin", "isolated", "locked",
               "neigh_suppress", "vlan_tunnel", "guard", "fastleave", "mcast_to_unicast"});
    const bool usuallyOn = flag == "learning" || flag.ends_with("flood");
    undo_ = fmt::format("bridge link set dev {} {} {}", which, flag, usuallyOn ? "on" : "off");
    return fmt::format("bridge link set dev {} {} {}", which, flag, usuallyOn ? "off" : "on");
}

std::string Script::entry() {
    const auto mac = text(station(static_cast<unsigned>(below(stations))));
    const std::string where = vlans_ ? oneOf<std::string>({"", " vlan 1", " vlan 10", " vlan 20"}) : "";
    if (below(3) == 0)
        return "bridge fdb del " + mac + " dev " + port() + " master" + where;
    return "bridge fdb replace " + mac + " dev " + port() + " master " +
           oneOf<std::string>({"static", "dynamic", "static sticky", "extern_learn", "permanent"}) + where;
}

std::string Script::rule() {
    const auto which = port();
    switch (below(5)) {
    case 0:
        undo_ = "tc qdisc del dev " + which + " clsact";
        return tcFilter(which);
    case 1:
        undo_ = "nft delete table bridge t";
        return "nft add table bridge t && nft add chain bridge t c '{ type filter hook " +
               oneOf<std::string>({"prerouting", "forward", "postrouting"}) + " priority 0; policy " +
               oneOf<std::string>({"accept", "drop"}) + "; }'";
    case 2:
        undo_ = "nft delete table netdev t";
        return "nft add table netdev t && nft add chain netdev t c '{ type filter hook " +
               oneOf<std::string>({"ingress", "egress"}) + " device " + which + " priority 0; policy " +
               oneOf<std::string>({"accept", "drop"}) + "; }'";
    case 3:
        undo_ = "ip link set br0 promisc off";
        return "ip link set br0 promisc on";
    default:
        undo_ = "sysctl -qw net.bridge.bridge-nf-call-iptables=0";
        return "sysctl -qw net.bridge.bridge-nf-call-iptables=1";
    }
}

std::string Script::change() {
    if (!undo_.empty() && below(3) != 0)
        return std::exchange(undo_, {});
    const auto before = std::exchange(undo_, {});
    const auto words = vlans_ && below(2) == 0 ? vlan()
                       : below(2) == 0         ? entry()
                       : below(2) == 0         ? portSetting()
                                               : rule();
    return before.empty() ? words : before + "; " + words;
}

Step Script::next() {
    if (below(8) == 0)
        return Change{change()};
    auto sent = frame();
    // Stations have a port where they are at home, and are elsewhere now and then.
    const unsigned home = sent.bytes[11] % 4U;
    return Send{below(10) == 0 ? static_cast<unsigned>(below(4)) : home, std::move(sent)};
}

} // namespace tna::test
