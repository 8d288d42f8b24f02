// SPDX-License-Identifier: Apache-2.0
// Routes with all that "ip route" takes, nexthop objects, and what becomes of the routes that the kernel
// itself has made. Left out is what time decides: resilient groups, whose buckets move.
#include "diff/random/extension.hpp"

#include <fmt/format.h>

namespace tna::diff {

namespace {
class RouteOptionsScenario : public Extension {
public:
    explicit RouteOptionsScenario(Chance& chance) : Extension(chance, anyRouter(chance)) {}

private:
    std::vector<std::string> more() override {
        auto& topology = this->topology();
        topology.spread = {.newFlow = 20, .far = 2, .fromFar = 3};
        // Addresses of the host itself, most of all, and what the kernel has routes of its own for.
        for (unsigned net = 0; net < topology.devices.size(); net++) {
            for (const unsigned host : {0U, 1U, 1U, 1U, 255U})
                topology.far4.push_back(address4(net, host));
            for (const unsigned host : {0U, 1U})
                topology.far6.push_back(address6(net, host));
        }
        std::vector<std::string> lines;
        for (unsigned i = chance_.below(12); i > 0; i--)
            lines.push_back(add() + " || true");
        return lines;
    }

    std::vector<Step> ownChange() override {
        switch (chance_.below(10)) {
        case 0:
        case 1:
            return own();
        case 2:
            return commands({nexthop()});
        case 3: { // back to something simple
            const bool six = chance_.once(2);
            const auto prefix = this->prefix(six);
            const std::string ip = six ? "ip -6 route " : "ip route ";
            return commands({fmt::format("{0}flush exact {1}; {0}add {1} via {2}", ip, prefix, way(six))});
        }
        case 4: {
            const bool six = chance_.once(2);
            return commands({(six ? "ip -6 route del " : "ip route del ") + prefix(six)});
        }
        default:
            return commands({add()});
        }
    }

    std::string prefix(bool six) {
        return six ? chance_.oneOf({"fd09::/16", "fd09:1::/32", "fd09:1::2/128", "default", "fd09:2::/31",
                                    "fd09::1/128", "2001:db8::/32", "fd00:0:0:1::/96"})
                   : chance_.oneOf({"10.9.0.0/16", "10.9.1.0/24", "10.9.1.2/32", "default", "10.9.2.0/23",
                                    "10.9.0.1/32", "10.200.0.0/15", "10.0.1.0/25"});
    }

    /// A route as people and daemons write it; some of it is refused.
    std::string add() {
        const bool six = chance_.once(2);
        std::string words = six ? "ip -6 route " : "ip route ";
        words += chance_.oneOf(
            {"add ", "replace ", "replace ", "replace ", "change ", "append ", "append ", "prepend "});
        if (chance_.once(8))
            words += chance_.oneOf({"unicast ", "unreachable ", "prohibit ", "blackhole ", "throw ", "local ",
                                    "broadcast ", "anycast ", "multicast ", "nat "});
        words += prefix(six);
        if (chance_.once(10) && !six)
            words += fmt::format(" tos {:#x}", 4 * chance_.below(64));
        if (six && bySource_ && sources_.once(4)) // only for packets from there
            words +=
                " from " + sources_.oneOf<std::string>({"fd00:0:0:1::/64", "fd00:0:0:2::2", "fd09::/16"});
        words += target(six);
        for (unsigned i = chance_.below(4); i > 0; i--)
            words += option(six);
        return words;
    }

    std::string target(bool six) {
        const auto host = chance_.oneOf(topology().hosts);
        const auto via = [&](bool six) { return six ? text6(host.ip6) : text4(host.ip4); };
        const auto leading = topology().devices.empty() ? "p0" : topology().devices[host.net];
        switch (chance_.below(12)) {
        case 0:
            return " dev " + device();
        case 1: {
            std::string words;
            for (unsigned i = 0, count = 1 + chance_.below(4); i < count; i++)
                words += fmt::format(" nexthop via {} weight {}{}", way(six), 1 + chance_.below(5),
                                     chance_.once(8) ? " onlink dev " + device() : "");
            return words;
        }
        case 2:
            return fmt::format(" nhid {}", 1 + chance_.below(6));
        case 3:
            return fmt::format(" via {} dev {} onlink", via(six), leading);
        case 4:
            return six ? " via " + via(true) : " via inet6 " + via(true);
        case 5:
            return fmt::format(" via {} dev {}", via(six), chance_.once(3) ? device() : leading);
        case 6: // sent on by a way of its own
            return fmt::format(" encap {} via {}",
                               chance_.oneOf<std::string>(
                                   {"mpls 100", "ip id 7 dst " + way(false), "ip6 id 7 dst " + way(true),
                                    "seg6 mode encap segs " + way(true), "seg6local action End"}),
                               via(six));
        default:
            return " via " + via(six);
        }
    }

    std::string option(bool six) {
        const auto metric = [&](const char* name, std::initializer_list<unsigned> values) {
            return fmt::format(" {} {}{}", name, chance_.once(2) ? "lock " : "", chance_.oneOf(values));
        };
        switch (chance_.below(22)) {
        case 0:
        case 1:
        case 2:
        case 3:
            return metric("mtu", {0, 0, 0, 1, 68, 552, 576, 600, 1000, 1279, 1280, 1300, 1400, 1500, 1501,
                                  9000, 65535, 70000});
        case 4:
            return metric("advmss", {0, 100, 536, 1460, 65535});
        case 5:
            return metric(
                chance_.oneOf({"window", "cwnd", "ssthresh", "reordering", "initcwnd", "initrwnd"}).c_str(),
                {0, 1, 10, 65535});
        case 6:
            return fmt::format(" {} {}", chance_.oneOf({"rtt", "rttvar", "rto_min"}),
                               chance_.oneOf({"0", "1ms", "200ms", "10s"}));
        case 7:
            return " features ecn";
        case 8:
            return fmt::format(" quickack {}", chance_.below(2));
        case 9:
            return " congctl " + chance_.oneOf({"reno", "lock reno", "cubic"});
        case 10:
            return six ? " pref " + chance_.oneOf({"low", "medium", "high"})
                       : " realms " + chance_.oneOf({"1", "1/2", "255"});
        case 11:
            return " onlink";
        case 12:
            return six ? " expires " + chance_.oneOf({"9000", "100000"}) : " fastopen_no_cookie 1";
        case 13:
            return " proto " + chance_.oneOf({"static", "kernel", "boot", "redirect", "bird", "77"});
        case 14:
            return " scope " + chance_.oneOf({"link", "global", "site", "host", "nowhere", "100"});
        case 15: {
            const unsigned net = chance_.below(4);
            return " src " + (six ? text6(address6(net, 1)) : text4(address4(net, 1)));
        }
        case 16:
        case 17:
            return metric("hoplimit", {0, 1, 5, 64, 255});
        case 18:
            return " ttl-propagate " + chance_.oneOf({"enabled", "disabled"});
        case 19:
            return " table " + chance_.oneOf({"main", "main", "local", "77", "default"});
        default:
            return fmt::format(" metric {}", chance_.oneOf({0U, 1U, 5U, 1024U, 2000U}));
        }
    }

    /// An object of its own, which routes name.
    std::string nexthop() {
        const auto id = 1 + chance_.below(6);
        const bool six = chance_.once(2);
        const auto host = chance_.oneOf(topology().hosts);
        const auto leading = topology().devices.empty() ? "p0" : topology().devices[host.net];
        switch (chance_.below(8)) {
        case 0:
            return fmt::format("ip nexthop del id {}", id);
        case 1:
            return fmt::format("ip nexthop replace id {} blackhole", id);
        case 2:
            return fmt::format("ip nexthop replace id {} group {}/{},{}", id, 1 + chance_.below(6),
                               1 + chance_.below(6), 1 + chance_.below(3));
        case 3:
            return fmt::format("ip {} nexthop replace id {} dev {}", six ? "-6" : "-4", id, leading);
        default:
            return fmt::format("ip nexthop replace id {} via {} dev {}{}", id,
                               six ? text6(host.ip6) : text4(host.ip4), leading,
                               chance_.once(6) ? " onlink" : "");
        }
    }

    /// What the kernel keeps in the table "local" and for links by itself: gone, in another's place,
    /// shadowed.
    std::vector<Step> own() {
        const unsigned net = chance_.below(topology().devices.size());
        const auto& device = topology().devices[net];
        const bool six = chance_.once(3);
        const std::string ip = six ? "ip -6 route " : "ip route ";
        const auto address = six ? text6(address6(net, 1)) : text4(address4(net, 1));
        const auto broadcast = six ? text6(address6(net, 0)) : text4(address4(net, 255));
        const auto link = six ? fmt::format("fd00:0:0:{}::/64", net) : fmt::format("10.0.{}.0/24", net);
        const auto mine = fmt::format("local {} dev {} table local", address, device);
        const auto back = ip + "replace " + mine +
                          (six ? " proto kernel metric 0" : " proto kernel scope host src " + address);
        switch (chance_.below(8)) {
        case 0:
        case 1:
            undoBy(back);
            return commands({ip + "del " + mine});
        case 2: {
            const auto words = fmt::format("{} {} dev {} table local",
                                           chance_.oneOf({"broadcast", "anycast"}), broadcast, device);
            undoBy(ip + "replace " + words);
            return commands({ip + "del " + words});
        }
        case 3: {
            const auto type = chance_.oneOf({"unicast ", "broadcast ", "anycast ", "blackhole ", "throw "});
            const auto words = fmt::format("{}{} table local", type, address) +
                               (type == "blackhole " || type == "throw " ? "" : " dev " + this->device());
            undoBy(ip + "del " + words);
            return commands({ip + chance_.oneOf({"prepend ", "append ", "add "}) + words});
        }
        case 4: { // somebody else's address is the host's
            const auto words = fmt::format("local {} dev {} table local",
                                           chance_.once(2) ? way(six)
                                           : six           ? "fd09:1::2"
                                                           : "10.9.1.2",
                                           this->device());
            undoBy(ip + "del " + words);
            return commands({ip + "add " + words});
        }
        case 5:
            undoBy(restoration());
            return commands({fmt::format("{}del {} dev {}", ip, link, device)});
        case 6:
            undoBy(fmt::format("{0}del {1} table local; {0}del {1} table local", ip, link));
            return commands(
                {fmt::format("{}add {} {} dev {} table local", ip,
                             chance_.oneOf({"unicast", "local", "broadcast", "nat"}), link, this->device())});
        default: // the address stays, all that the kernel has made for it goes
            undoBy(restoration());
            return commands({ip + "flush table local dev " + device});
        }
    }

    static constexpr std::uint64_t sources = 11;
    Chance sources_ = chance_.apart(sources);
    bool bySource_ = sources_.once(5); // with one of those, all of IPv6 is Linux's
};
} // namespace

std::unique_ptr<Scenario> routeOptionsScenario(Chance& chance) {
    return std::make_unique<RouteOptionsScenario>(chance);
}

} // namespace tna::diff
