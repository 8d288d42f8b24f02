// SPDX-License-Identifier: Apache-2.0
#include "diff/random/routing.hpp"

#include <fmt/format.h>

namespace tna::diff {

std::vector<std::string> routerSettings() {
    return {
        "sysctl -qw net.ipv6.conf.all.disable_ipv6=0 net.ipv6.conf.default.disable_ipv6=0 "
        "net.ipv6.conf.default.addr_gen_mode=1 net.ipv6.conf.default.accept_dad=0",
        "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 "
        "net.ipv4.conf.all.send_redirects=0 net.ipv4.conf.default.send_redirects=0",
        // As many answers as there are questions, however fast they come.
        "sysctl -qw net.ipv4.icmp_ratelimit=0 net.ipv4.icmp_ratemask=0 net.ipv6.icmp.ratelimit=0 "
        "net.ipv6.icmp.ratemask=0",
        "ip link set lo up"};
}

std::string addressWords(const RoutedNet& net, const Topology& topology) {
    auto words = fmt::format(
        "ip address replace 10.0.{0}.1/24 dev {1} && ip address replace fd00:0:0:{0}::1/64 dev {1} nodad",
        net.number, net.device);
    for (const auto& host : topology.hosts)
        if (host.net == net.number)
            words += fmt::format(
                " && ip neigh replace {0} lladdr {2} dev {3} nud permanent && ip neigh replace {1} "
                "lladdr {2} dev {3} nud permanent",
                text4(host.ip4), text6(host.ip6), text(host.mac), net.device);
    return words;
}

std::vector<std::string> netSetup(const RoutedNet& net, const Topology& topology) {
    std::string quiet;
    for (const auto* version : {"ipv4", "ipv6"})
        // No questions for neighbours, and answers for others at once; what time does must not decide.
        quiet += fmt::format(" net.{0}.neigh.{1}.mcast_solicit=0 net.{0}.neigh.{1}.ucast_solicit=0 "
                             "net.{0}.neigh.{1}.delay_first_probe_time=1000 net.{0}.neigh.{1}.proxy_delay=0 "
                             "net.{0}.neigh.{1}.base_reachable_time_ms=10000000",
                             version, net.device);
    return {fmt::format("sysctl -qw net.ipv4.conf.{0}.rp_filter=0 net.ipv4.conf.{0}.send_redirects=0 "
                        "net.ipv6.conf.{0}.addr_gen_mode=1 net.ipv6.conf.{0}.accept_dad=0 "
                        "net.ipv6.conf.{0}.disable_ipv6=0{1}",
                        net.device, quiet),
            fmt::format("ip link set {} up", net.device), addressWords(net, topology)};
}

Routing::Routing(Chance& chance, Topology& topology, std::vector<RoutedNet> nets)
    : chance_(chance), topology_(topology), nets_(std::move(nets)) {
    for (const auto* address : {"10.9.0.1", "10.9.0.2", "10.9.1.2", "10.9.1.77", "10.9.2.3", "10.200.0.1"})
        topology.far4.push_back(address4(address));
    for (const auto* address : {"fd09::1", "fd09::2", "fd09:1::2", "fd09:1::77", "fd09:2::3", "2001:db8::1"})
        topology.far6.push_back(address6(address));
}

std::string Routing::way(bool six) {
    const auto& host = chance_.oneOf(topology_.hosts);
    return six ? text6(host.ip6) : text4(host.ip4);
}

/// What a route leads to.
std::string Routing::target(bool six) {
    if (chance_.once(10))
        return fmt::format("nexthop via {} nexthop via {} weight 3", way(six), way(six));
    if (chance_.once(8))
        return "dev " + net().device;
    auto words = "via " + way(six);
    if (chance_.once(4))
        words += chance_.oneOf({" mtu 1300", " mtu 1400", " mtu lock 1300", " mtu 9000", " advmss 1000"});
    if (chance_.once(6))
        words += chance_.oneOf({" metric 5", " metric 2000"});
    return words;
}

std::string Routing::route(std::string& undo) {
    const bool six = chance_.once(2);
    const std::string ip = six ? "ip -6 route " : "ip route ";
    const auto prefix = six ? chance_.oneOf({"fd09::/16", "fd09::/16", "fd09:1::/32", "fd09:1::2/128",
                                             "default", "fd00:0:0:1::/96", "fd09:2::/31", "fd09::1/128"})
                            : chance_.oneOf({"10.9.0.0/16", "10.9.0.0/16", "10.9.1.0/24", "10.9.1.2/32",
                                             "default", "10.0.1.0/25", "10.9.2.0/23", "10.9.0.1/32"});
    const auto usual = fmt::format("{}replace {} via {}", ip, prefix, way(six));
    if (chance_.once(4)) {
        undo = usual;
        return ip + "del " + prefix;
    }
    if (chance_.once(6)) {
        const auto type =
            chance_.oneOf({"blackhole ", "unreachable ", "prohibit ", "throw ", "local ", "anycast "});
        undo = ip + "del " + type + prefix + "; " + usual;
        return ip + "replace " + type + prefix + chance_.oneOf({"", " dev lo"});
    }
    if (!six && chance_.once(12))
        return ip + "replace " + prefix + " tos 0x10 " + target(six);
    return ip + chance_.oneOf({"replace ", "replace ", "replace ", "append ", "prepend "}) + prefix + " " +
           target(six);
}

/// Not a host's own.
Mac Routing::oddMac() {
    switch (chance_.below(6)) {
    case 0:
        return {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    case 1:
        return net().mac;
    case 2:
        return chance_.oneOf(topology_.hosts).mac;
    default:
        return groupMac;
    }
}

std::string Routing::neighbour(std::string& undo) {
    auto& host = topology_.hosts[chance_.below(topology_.hosts.size())];
    std::string device;
    for (const auto& net : nets_)
        if (net.number == host.net)
            device = net.device;
    if (chance_.once(6)) // dies, and comes back with another address
        host.mac = station(0x100 + chance_.below(16));
    const auto mac = text(chance_.once(3) ? oddMac() : host.mac);
    std::string words;
    for (const auto& address : {text4(host.ip4), text6(host.ip6)}) {
        undo += fmt::format("{}ip neigh replace {} lladdr {} dev {} nud permanent", undo.empty() ? "" : "; ",
                            address, text(host.mac), device);
        words += fmt::format(
            "{}{}", words.empty() ? "" : "; ",
            chance_.once(4) ? fmt::format("ip neigh del {} dev {}", address, device)
                            : fmt::format("ip neigh replace {} lladdr {} dev {} nud {}", address, mac, device,
                                          chance_.oneOf({"permanent", "permanent", "reachable", "reachable",
                                                         "stale", "noarp"})));
    }
    return words;
}

std::string Routing::setting(std::string& undo) {
    struct Setting {
        std::string name, value, usual;
    };
    const auto& device = net().device;
    const auto ipv4 = "net.ipv4.conf." + device + ".", ipv6 = "net.ipv6.conf." + device + ".";
    const auto chosen = chance_.oneOf<Setting>({{"net.ipv4.ip_forward", "0", "1"},
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
                                                {ipv4 + "send_redirects", "1", "0"},
                                                {ipv4 + "route_localnet", "1", "0"},
                                                {ipv4 + "drop_unicast_in_l2_multicast", "1", "0"},
                                                {"net.ipv4.ip_forward_use_pmtu", "1", "0"},
                                                {"net.ipv4.fib_multipath_hash_policy", "1", "0"},
                                                {"net.ipv6.fib_multipath_hash_policy", "1", "0"},
                                                {"net.ipv6.conf.all.forwarding", "0", "1"},
                                                {ipv6 + "forwarding", "0", "1"},
                                                {ipv6 + "proxy_ndp", "1", "0"},
                                                {"net.ipv6.conf.all.proxy_ndp", "1", "0"},
                                                {ipv6 + "mtu", "1300", "1500"},
                                                {ipv6 + "accept_source_route", "1", "0"},
                                                {ipv6 + "ignore_routes_with_linkdown", "1", "0"}});
    undo = "sysctl -qw " + chosen.name + "=" + chosen.usual;
    // What is set for all, or for a protocol, sets ports as well.
    if (chosen.name.ends_with("forwarding") || chosen.name.ends_with("ip_forward"))
        undo = "sysctl -qw net.ipv4.ip_forward=0 net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=0 "
               "net.ipv6.conf.all.forwarding=1";
    return "sysctl -qw " + chosen.name + "=" + chosen.value;
}

/// Of the device itself.
std::string Routing::address(std::string& undo) {
    const auto& net = this->net();
    const auto& device = net.device;
    const auto back = addressWords(net, topology_);
    switch (chance_.below(6)) {
    case 0:
        undo = fmt::format("ip link set {} address {}; {}", device, text(net.mac), back);
        return fmt::format("ip link set {} address 02:00:00:00:ff:77", device);
    case 1:
        undo = fmt::format("ip address del 10.0.2.2/32 dev {}", device);
        return fmt::format("ip address add 10.0.2.2/32 dev {}", device);
    case 2:
        undo = back;
        return fmt::format("ip address flush dev {}", device);
    case 3:
        undo = fmt::format("ip link set {} up; {}", device, back);
        return fmt::format("ip link set {} down", device);
    default:
        undo = fmt::format("ip link set {} mtu 1500", device);
        return fmt::format("ip link set {} mtu {}", device, chance_.oneOf({1000, 1280, 1400, 2000, 9000}));
    }
}

/// From then on the kernel follows rules, whatever becomes of this one.
std::string Routing::rule(std::string& undo) {
    const bool six = chance_.once(2);
    const std::string ip = six ? "ip -6 " : "ip ";
    const auto net = [&](unsigned number) {
        return six ? fmt::format("fd00:0:0:{}::/64", number) : fmt::format("10.0.{}.0/24", number);
    };
    const auto& device = this->net().device;
    const auto number = static_cast<unsigned>(chance_.below(nets_.size()));
    const auto selector = chance_.oneOf<std::string>(
        {"iif " + device, "fwmark 7", "from " + net(number), "fwmark 1/1", "to " + net(number),
         six ? "to fd09::/16" : "to 10.9.0.0/16", fmt::format("iif {} to {}", device, net(number)),
         "from all", "fwmark 1", "oif " + device, "iif gone", "tos 0x10", "ipproto 17"});
    const auto action = chance_.oneOf<std::string>(
        {"lookup 7", "lookup 7", "lookup 7", "lookup 8", "lookup 263", "lookup main", "blackhole", "prohibit",
         "lookup main suppress_prefixlength 0", "lookup main suppress_prefixlength 24",
         "lookup 7 suppress_prefixlength 0", "lookup main suppress_ifgroup 0", "goto 200", "nop"});
    const auto words = fmt::format("{}{} priority {} {}", chance_.once(6) ? "not " : "", selector,
                                   1 + chance_.below(150), action);
    const auto table = chance_.oneOf({7, 8, 263});
    const auto to =
        chance_.oneOf<std::string>({"default", "default", net(number), six ? "fd09:1::/32" : "10.9.1.0/24"});
    const auto how = chance_.oneOf<std::string>({"via " + way(six), "via " + way(six), "via " + way(six),
                                                 "dev " + device, "mtu 1300 via " + way(six)});
    std::string route = fmt::format("{}route replace {} {} table {}", ip, to, how, table);
    if (chance_.once(5))
        route =
            fmt::format("{}route replace {} {} table {}", ip,
                        chance_.oneOf<std::string>({"throw", "prohibit", "blackhole", "local"}), to, table);
    if (!chance_.once(4))
        undo = fmt::format("{}rule del {}", ip, words);
    return fmt::format("{}; {}rule add {}", route, ip, words);
}

} // namespace tna::diff
