// SPDX-License-Identifier: Apache-2.0
#include "router_script.hpp"

#include "packets.hpp"
#include "router_world.hpp"

#include <fmt/format.h>
#include <utility>

namespace tna::test {

std::string RouterScript::port() {
    return "p" + std::to_string(below(RouterWorld::ports));
}

std::vector<Change> RouterScript::start() {
    return {{"ip route add 10.9.0.0/16 via 10.0.1.2"}, {"ip -6 route add fd09::/16 via fd00:0:0:2::2"}};
}

/// What a route leads to.
std::string RouterScript::target(int version) {
    const auto way = [&] {
        const auto number = static_cast<unsigned>(below(RouterWorld::ports));
        return RouterWorld::address(version, number, 2 + static_cast<unsigned>(below(2)));
    };
    if (below(10) == 0)
        return fmt::format("nexthop via {} nexthop via {} weight 3", way(), way());
    if (below(8) == 0)
        return "dev " + port();
    auto words = "via " + way();
    if (below(4) == 0)
        words +=
            oneOf<std::string>({" mtu 1300", " mtu 1400", " mtu lock 1300", " mtu 9000", " advmss 1000"});
    if (below(6) == 0)
        words += oneOf<std::string>({" metric 5", " metric 2000"});
    return words;
}

std::string RouterScript::route() {
    const int version = below(2) == 0 ? 4 : 6;
    const std::string ip = version == 4 ? "ip route " : "ip -6 route ";
    const auto prefix =
        version == 4 ? oneOf<std::string>({"10.9.0.0/16", "10.9.0.0/16", "10.9.1.0/24", "10.9.1.2/32",
                                           "default", "10.0.1.0/25", "10.9.2.0/23", "10.9.0.1/32"})
                     : oneOf<std::string>({"fd09::/16", "fd09::/16", "fd09:1::/32", "fd09:1::2/128",
                                           "default", "fd00:0:0:1::/96", "fd09:2::/31", "fd09::1/128"});
    if (below(4) == 0)
        return ip + "del " + prefix;
    if (below(5) == 0)
        return ip + "replace " +
               oneOf<std::string>(
                   {"blackhole ", "unreachable ", "prohibit ", "throw ", "local ", "anycast "}) +
               prefix + oneOf<std::string>({"", " dev p1", " dev lo"});
    if (version == 4 && below(12) == 0)
        return ip + "replace " + prefix + " tos 0x10 " + target(version);
    return ip + oneOf<std::string>({"replace ", "replace ", "replace ", "append ", "prepend "}) + prefix +
           " " + target(version);
}

std::string RouterScript::neighbour() {
    const int version = below(2) == 0 ? 4 : 6;
    const auto number = static_cast<unsigned>(below(RouterWorld::ports));
    const auto host = RouterWorld::address(version, number, 2 + static_cast<unsigned>(below(2)));
    if (below(3) == 0)
        return fmt::format("ip neigh del {} dev p{}", host, number);
    return fmt::format(
        "ip neigh replace {} lladdr {} dev p{} nud {}", host,
        text(station(static_cast<unsigned>(below(2 * RouterWorld::ports)))), number,
        oneOf({"permanent", "permanent", "reachable", "reachable", "stale", "noarp", "delay"}));
}

std::string RouterScript::setting() {
    struct Setting {
        std::string name, value, usual;
    };
    const auto which = port();
    const auto ipv4 = "net.ipv4.conf." + which + ".", ipv6 = "net.ipv6.conf." + which + ".";
    const auto chosen = oneOf<Setting>({{"net.ipv4.ip_forward", "0", "1"},
                                        {ipv4 + "forwarding", "0", "1"},
                                        {ipv4 + "rp_filter", "1", "0"},
                                        {ipv4 + "rp_filter", "2", "0"},
                                        {"net.ipv4.conf.all.rp_filter", "1", "0"},
                                        {"net.ipv4.conf.all.rp_filter", "2", "0"},
                                        {ipv4 + "accept_local", "1", "0"},
                                        {ipv4 + "src_valid_mark", "1", "0"},
                                        {ipv4 + "accept_source_route", "0", "1"},
                                        {ipv4 + "log_martians", "1", "0"},
                                        {ipv4 + "proxy_arp", "1", "0"},
                                        {ipv4 + "ignore_routes_with_linkdown", "1", "0"},
                                        {"net.ipv4.ip_forward_use_pmtu", "1", "0"},
                                        {"net.ipv4.fib_multipath_hash_policy", "1", "0"},
                                        {"net.ipv6.fib_multipath_hash_policy", "1", "0"},
                                        {"net.ipv6.conf.all.forwarding", "0", "1"},
                                        {ipv6 + "forwarding", "0", "1"},
                                        {ipv6 + "proxy_ndp", "1", "0"},
                                        {"net.ipv6.conf.all.proxy_ndp", "1", "0"},
                                        {ipv6 + "mtu", "1300", "1500"},
                                        {ipv6 + "ignore_routes_with_linkdown", "1", "0"}});
    undo_ = "sysctl -qw " + chosen.name + "=" + chosen.usual;
    // What is set for all, or for a protocol, sets ports as well.
    if (chosen.name.ends_with("forwarding") || chosen.name.ends_with("ip_forward"))
        undo_ = "sysctl -qw net.ipv4.ip_forward=0 net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=0 "
                "net.ipv6.conf.all.forwarding=1";
    return "sysctl -qw " + chosen.name + "=" + chosen.value;
}

std::string RouterScript::filter() {
    const auto which = port();
    switch (below(4)) {
    case 0:
        undo_ = "tc qdisc del dev " + which + " clsact";
        return tcFilter(which);
    case 1:
        undo_ = "nft delete table inet t";
        return "nft add table inet t && nft add chain inet t c '{ type filter hook " +
               oneOf<std::string>({"prerouting", "forward", "postrouting", "input"}) +
               " priority 0; policy " + oneOf<std::string>({"accept", "drop"}) + "; }'";
    case 2:
        undo_ = "ip xfrm policy flush";
        return fmt::format("ip xfrm policy add src {} dst {} dir {} action block",
                           oneOf({"10.0.0.0/16", "fd00::/48"}), oneOf({"10.0.0.0/8", "fd00::/8"}),
                           oneOf({"fwd", "out"}));
    default:
        undo_ = "nft delete table netdev t";
        return "nft add table netdev t && nft add chain netdev t c '{ type filter hook " +
               oneOf<std::string>({"ingress", "egress"}) + " device " + which + " priority 0; policy " +
               oneOf<std::string>({"accept", "drop"}) + "; }'";
    }
}

/// Of the ports themselves, but that they go down: when a link is noticed to be up again is a matter of time.
std::string RouterScript::link() {
    const auto number = static_cast<unsigned>(below(RouterWorld::ports));
    const auto which = "p" + std::to_string(number);
    const auto mac = text(RouterWorld::portMac(number));
    const auto back = RouterWorld::configuration(number);
    switch (below(4)) {
    case 0:
        undo_ = fmt::format("ip link set {} address {}; {}", which, mac, back);
        return "ip link set " + which + " address 02:00:00:00:ff:77";
    case 1:
        undo_ = fmt::format("ip address del 10.0.2.2/32 dev {}", which);
        return fmt::format("ip address add 10.0.2.2/32 dev {}", which);
    case 2:
        undo_ = back;
        return fmt::format("ip address flush dev {}", which);
    default:
        undo_ = fmt::format("ip link set {} mtu 1500", which);
        return fmt::format("ip link set {} mtu {}", which, oneOf({1000, 1280, 1400}));
    }
}

std::string RouterScript::rule() {
    const std::string ip = below(2) == 0 ? "ip " : "ip -6 ";
    const bool ipv4 = ip == "ip ";
    return ip + "route replace default via " + RouterWorld::address(ipv4 ? 4 : 6, 3, 2) + " table 7 && " +
           ip + "rule add " +
           oneOf<std::string>({"iif p0", ipv4 ? "from 10.0.1.0/24" : "from fd00:0:0:1::/64",
                               ipv4 ? "to 10.9.1.0/24" : "to fd09:1::/32", "ipproto 17", "fwmark 1",
                               "tos 0x10"}) +
           " " + oneOf<std::string>({"lookup 7", "blackhole", "prohibit"});
}

std::string RouterScript::change() {
    if (!undo_.empty() && lasts_ > below(8))
        return std::exchange(undo_, {});
    const auto before = std::exchange(undo_, {});
    lasts_ = 0;
    const auto kind = below(10);
    const auto words = step_ * 10 > steps_ * 9 && below(2) == 0 ? rule()
                       : kind < 4                               ? route()
                       : kind < 6                               ? neighbour()
                       : kind < 8                               ? setting()
                       : kind < 9                               ? link()
                                                                : filter();
    return before.empty() ? words : before + "; " + words;
}

Step RouterScript::next() {
    step_++;
    if (below(8) == 0 || (!undo_.empty() && lasts_ > 20))
        return Change{change()};
    lasts_++;
    return randomPacket(*this);
}

} // namespace tna::test
