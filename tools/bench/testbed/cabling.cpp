// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/cabling.hpp"

#include "base/file.hpp"
#include "introspect/introspector.hpp"

#include <fmt/ranges.h>
#include <sstream>
#include <vector>

namespace tna::bench {

namespace {
constexpr unsigned ethernet = 14;

/// What others use an interface for, a phrase each.
std::vector<std::string> usesOf(const model::Network& network, const std::set<std::string>& defaultRoutes,
                                const model::Link& link) {
    std::vector<std::string> uses;
    if (defaultRoutes.contains(link.name))
        uses.emplace_back("carries the default route");
    for (const auto& address : link.addresses)
        if (address.scope != "link")
            uses.push_back("has the address " + address.prefix);
    if (link.master != 0) {
        const auto* master = network.link(link.master);
        uses.push_back("belongs to " + (master != nullptr ? master->name : "another device"));
    }
    for (const auto* upper : network.stackedOn(link.ifindex))
        if (upper->ifindex != link.ifindex && upper->kind != "veth")
            uses.push_back("has " + upper->name + " on top of it");
    if (link.xdp.driverProgram != 0 || link.xdp.genericProgram != 0 || link.xdp.offloadProgram != 0)
        uses.emplace_back("has an XDP program");
    return uses;
}
} // namespace

std::string problemWith(const Cabling& cabling) {
    if (cabling.tx.empty() != cabling.rx.empty())
        return "--tx and --rx need each other: name both interfaces";
    if (cabling.cabled() && cabling.tx == cabling.rx)
        return "--tx and --rx must be two interfaces";
    if (!cabling.cabled() && !cabling.dut.empty() && cabling.dut != "none")
        return "--dut with a command is for a machine that is cabled to this one: name --tx and --rx";
    if (!cabling.cabled() && cabling.force)
        return "--force is about interfaces: name --tx and --rx";
    return {};
}

std::string problemWithInterface(const model::Network& network, const std::set<std::string>& defaultRoutes,
                                 const std::string& name, unsigned largestFrame, bool force) {
    const auto* link = network.linkByName(name);
    if (link == nullptr)
        return fmt::format("there is no interface '{}'", name);
    if (!link->ethernet || (link->flags & model::link_flag::loopback) != 0)
        return fmt::format("'{}' is no Ethernet interface", name);
    if (!link->up())
        return fmt::format("'{0}' is down: ip link set {0} up", name);
    if (!link->carrier)
        return fmt::format("'{}' has no carrier: is the cable in?", name);
    if (largestFrame > link->mtu + ethernet)
        return fmt::format("'{0}' has an MTU of {1}, frames of {2} bytes need {3}: ip link set {0} mtu {3}",
                           name, link->mtu, largestFrame, largestFrame - ethernet);
    // Nothing can force two programs onto one interface.
    if (link->xdp.driverProgram != 0 || link->xdp.genericProgram != 0 || link->xdp.offloadProgram != 0)
        force = false;
    const auto uses = usesOf(network, defaultRoutes, *link);
    if (uses.empty() || force)
        return {};
    return fmt::format("'{}' is in use: it {}; it would be flooded with frames, and lose its own{}", name,
                       fmt::join(uses, ", it "),
                       link->xdp.driverProgram != 0 || link->xdp.genericProgram != 0
                           ? ": take the program off"
                           : " (--force does it nevertheless)");
}

std::set<std::string> defaultRoutesOf(const std::string& ipv4, const std::string& ipv6) {
    std::set<std::string> names;
    std::istringstream lines4{ipv4};
    for (std::string line; std::getline(lines4, line);) {
        std::istringstream words{line};
        std::string name;
        std::string destination;
        std::string other;
        if (!(words >> name >> destination) || destination != "00000000")
            continue;
        for (int column = 0; column < 6; column++)
            words >> other; // gateway, flags, references, use, metric, mask
        if (other == "00000000")
            names.insert(name);
    }
    std::istringstream lines6{ipv6};
    for (std::string line; std::getline(lines6, line);) {
        std::istringstream words{line};
        std::vector<std::string> columns;
        for (std::string word; words >> word;)
            columns.push_back(word);
        // What is not reachable is a route by the loopback device.
        if (columns.size() == 10 && columns[0].find_first_not_of('0') == std::string::npos &&
            columns[1] == "00" && columns[9] != "lo")
            names.insert(columns[9]);
    }
    return names;
}

Result<void> checkInterfaces(const Cabling& cabling, unsigned largestFrame) {
    auto introspector = introspect::Introspector::open();
    if (!introspector)
        return std::unexpected(introspector.error());
    const auto routes = defaultRoutesOf(readFile("/proc/thread-self/net/route").value_or(""),
                                        readFile("/proc/thread-self/net/ipv6_route").value_or(""));
    for (const auto& name : {cabling.tx, cabling.rx})
        if (const auto problem =
                problemWithInterface((*introspector)->network(), routes, name, largestFrame, cabling.force);
            !problem.empty())
            return fail("{}", problem);
    return {};
}

} // namespace tna::bench
