// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/device_under_test.hpp"

#include "bench/testbed/frame.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/rules.hpp"

#include <bit>
#include <chrono>
#include <fmt/format.h>
#include <thread>

namespace tna::bench {

namespace {
constexpr int portAttempts = 50;
constexpr auto portPause = std::chrono::milliseconds(20);

/// A port takes stations once it forwards, which is a moment after it was set up.
Result<void> addStations(const std::string& name, const std::string& lines) {
    auto done = runBatch("bridge", name, lines);
    for (int attempt = 0; !done && attempt < portAttempts; attempt++) {
        std::this_thread::sleep_for(portPause);
        done = runBatch("bridge", name, lines);
    }
    return done;
}

/// Ports whose far ends are nobody.
std::string morePorts(unsigned ports) {
    std::string lines;
    for (unsigned port = 2; port < ports; port++)
        lines += fmt::format(
            "link add d{0} type veth peer name x{0}\nlink set d{0} master br0 up\nlink set x{0} up\n", port);
    return lines;
}

/// Stations that nobody talks to, half of them on each side.
std::string moreStations(unsigned count, const std::string& vlan) {
    std::string lines;
    for (unsigned i = 0; i < count; i++)
        lines += fmt::format("fdb replace 02:02:00:{:02x}:{:02x}:{:02x} dev d{} master dynamic{}\n", i >> 16U,
                             i >> 8U & 255U, i & 255U, i % 2, vlan);
    return lines;
}

Result<void> setUpBridge(const std::string& name, const Setup& setup) {
    if (auto made =
            runBatch("ip", name,
                     fmt::format("link add br0 type bridge ageing_time 1000000 mcast_snooping 0{}\n"
                                 "link set d0 master br0 up\nlink set d1 master br0 up\nlink set br0 up\n",
                                 setup.vlanFiltering ? " vlan_filtering 1" : "") +
                         morePorts(setup.ports));
        !made)
        return made;
    const auto vlan = setup.vlanFiltering ? fmt::format(" vlan {}", setup.vlan) : "";
    if (setup.vlanFiltering)
        if (auto set =
                runBatch("bridge", name,
                         fmt::format("vlan add dev d0 vid {0}\nvlan add dev d1 vid {0}\n", setup.vlan));
            !set)
            return set;
    std::string stations;
    for (unsigned i = 0; i < setup.flows; i++)
        stations += fmt::format("fdb replace 02:00:00:{0:02x}:{1:02x}:{2:02x} dev d1 master dynamic{3}\n"
                                "fdb replace 02:01:00:{0:02x}:{1:02x}:{2:02x} dev d0 master dynamic{3}\n",
                                i >> 16U, i >> 8U & 255U, i & 255U, vlan);
    return addStations(name, stations + moreStations(setup.entries, vlan));
}

Result<void> addRoutingRules(const std::string& name, const Setup& setup) {
    std::string lines;
    for (unsigned i = 0; i < setup.routingRules; i++)
        lines += fmt::format("rule add from {} lookup 200 pref 100\n", foreignSource(setup, i));
    return lines.empty() ? Result<void>{} : runBatch("ip", name, lines);
}

/// One route for all destinations, and more specific ones that divide them evenly.
std::string routesTo4(unsigned count, const char* via) {
    const auto bits = static_cast<unsigned>(std::bit_width(count - 1));
    std::string lines = fmt::format("route add 100.64.0.0/10 via {}\n", via);
    for (unsigned i = 0; i + 1 < count; i++) {
        const auto address = 0x64400000U + (i << (scatterBits - bits));
        lines += fmt::format("route add {}.{}.{}.{}/{} via {}\n", address >> 24U, address >> 16U & 255U,
                             address >> 8U & 255U, address & 255U, 32 - scatterBits + bits, via);
    }
    return lines;
}

std::string routesTo6(unsigned count, const char* via) {
    const auto bits = static_cast<unsigned>(std::bit_width(count - 1));
    std::string lines = fmt::format("route add 2001:db8::/32 via {}\n", via);
    for (unsigned i = 0; i + 1 < count; i++) {
        const auto address = i << (32 - bits);
        lines += fmt::format("route add 2001:db8:{:x}:{:x}::/{} via {}\n", address >> 16U, address & 0xffffU,
                             32 + bits, via);
    }
    return lines;
}

Result<void> setSysctl(const std::string& name, const std::string& setting) {
    return runProgram({"ip", "netns", "exec", name, "sysctl", "-q", "-w", setting});
}

/// `in` and `out` are the devices with addresses.
Result<void> setUpRouter4(const std::string& name, const std::string& in, const std::string& out,
                          const Setup& setup) {
    if (auto set = setSysctl(name, "net.ipv4.ip_forward=1"); !set)
        return set;
    return runBatch("ip", name,
                    fmt::format("address add 10.1.0.1/24 dev {0}\naddress add 10.2.0.1/24 dev {1}\n"
                                "neighbour replace 10.1.0.2 lladdr {2} dev {0} nud permanent\n"
                                "neighbour replace 10.2.0.2 lladdr {3} dev {1} nud permanent\n",
                                in, out, generatorMac, sinkMac) +
                        (forwardsPorts(setup.scenario) ? fmt::format("address add 10.1.0.3/24 dev {}\n", in) +
                                                             routesTo4(setup.routes, "10.1.0.2")
                                                       : routesTo4(setup.routes, "10.2.0.2")));
}

Result<void> setUpRouter6(const std::string& name, const Setup& setup) {
    for (const char* setting : {"net.ipv6.conf.all.disable_ipv6=0", "net.ipv6.conf.d0.disable_ipv6=0",
                                "net.ipv6.conf.d1.disable_ipv6=0", "net.ipv6.conf.all.forwarding=1"})
        if (auto set = setSysctl(name, setting); !set)
            return set;
    return runBatch(
        "ip", name,
        fmt::format("address add fd00:1::1/64 dev d0 nodad\naddress add fd00:2::1/64 dev d1 nodad\n"
                    "neighbour replace fd00:1::2 lladdr {} dev d0 nud permanent\n"
                    "neighbour replace fd00:2::2 lladdr {} dev d1 nud permanent\n",
                    generatorMac, sinkMac) +
            (forwardsPorts(setup.scenario)
                 ? "address add fd00:1::3/64 dev d0 nodad\n" + routesTo6(setup.routes, "fd00:1::2")
                 : routesTo6(setup.routes, "fd00:2::2")));
}

Result<void> setUpBridges(const std::string& name, const Setup& setup) {
    if (auto made =
            runBatch("ip", name,
                     fmt::format("link add br0 address {} type bridge ageing_time 1000000 mcast_snooping 0\n"
                                 "link add br1 address {} type bridge ageing_time 1000000 mcast_snooping 0\n"
                                 "link set d0 master br0 up\nlink set d1 master br1 up\n"
                                 "link set br0 up\nlink set br1 up\n",
                                 ingressMac, egressMac));
        !made)
        return made;
    if (auto added = addStations(name, fmt::format("fdb replace {} dev d0 master dynamic\n"
                                                   "fdb replace {} dev d1 master dynamic\n",
                                                   generatorMac, sinkMac));
        !added)
        return added;
    return setUpRouter4(name, "br0", "br1", setup);
}

Result<void> setUpRouter(const std::string& name, const Setup& setup) {
    if (auto set = runBatch(
            "ip", name,
            fmt::format("link set d0 address {} up\nlink set d1 address {} up\n", ingressMac, egressMac));
        !set)
        return set;
    return usesIpv6(setup.scenario) ? setUpRouter6(name, setup) : setUpRouter4(name, "d0", "d1", setup);
}
} // namespace

namespace {
Result<void> setUpScenario(const std::string& name, const Setup& setup) {
    switch (setup.scenario) {
    case Scenario::router:
    case Scenario::router6:
    case Scenario::firewall:
    case Scenario::firewall6:
    case Scenario::nat:
    case Scenario::nat6:
    case Scenario::forward:
    case Scenario::forward6:
        return setUpRouter(name, setup);
    case Scenario::bridges:
        return setUpBridges(name, setup);
    case Scenario::bridge:
        break;
    }
    return setUpBridge(name, setup);
}
} // namespace

Result<void> setUpForwarding(const std::string& name, const Setup& setup) {
    if (auto done = setUpScenario(name, setup); !done)
        return done;
    if (auto done = addRules(name, setup); !done)
        return done;
    return addRoutingRules(name, setup);
}

} // namespace tna::bench
