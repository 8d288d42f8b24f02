// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/scenario.hpp"

#include "bench/testbed/frame.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace tna::bench {

namespace {
/// The most pairs of stations that talk to each other.
constexpr unsigned mostStations = 100'000;
/// Destinations are scattered over as many addresses; routes divide them among themselves.
constexpr unsigned mostDestinations = 1U << scatterBits;
constexpr unsigned mostReverse = 1'000'000;
constexpr unsigned lastVlan = 4094;
constexpr unsigned mostRules = 100'000;
constexpr unsigned mostEntries = 1'000'000;
constexpr unsigned mostPorts = 1000;
constexpr unsigned largestLive = 3000;
constexpr unsigned page = 4096;
constexpr unsigned mostRuleChanges = 1000;

std::string problemWithRules(const Setup& setup) {
    if (setup.rules > mostRules || setup.routingRules > mostRules)
        return fmt::format("--rules and --routing-rules must be up to {}", mostRules);
    if (setup.routingRules != 0 && !routes(setup.scenario))
        return "--routing-rules are of routers: choose one with --scenario";
    if (setup.entries > mostEntries)
        return fmt::format("--entries must be up to {}", mostEntries);
    if (setup.entries != 0 && routes(setup.scenario))
        return "--entries are of bridges: leave out --scenario";
    if (setup.ports < 2 || setup.ports > mostPorts)
        return fmt::format("--ports must be from 2 to {}", mostPorts);
    if (setup.ports != 2 && routes(setup.scenario))
        return "--ports are of bridges: leave out --scenario";
    const bool own = setup.rules != 0 || setup.routingRules != 0 || setup.entries != 0 || setup.ports != 2 ||
                     setup.routes != 1 || setup.vlanFiltering;
    if (setup.cabling.cabled() && own)
        return "routes, rules, entries, ports and VLAN filtering are set on the machine under test itself";
    return {};
}

std::string problemWithFirewall(const Setup& setup) {
    if (!filters(setup.scenario))
        return setup.tracking != Tracking::established || setup.ruleChanges != 0
                   ? "--tracking and --rule-changes are of firewalls: choose one with --scenario"
                   : "";
    if (setup.ruleChanges > mostRuleChanges)
        return fmt::format("--rule-changes must be up to {}", mostRuleChanges);
    if (setup.cabling.cabled() && (setup.ruleChanges != 0 || setup.tracking == Tracking::fresh))
        return "--rule-changes and --tracking new need a firewall between namespaces: leave out --tx and "
               "--rx";
    if (translates(setup.scenario) && setup.tracking == Tracking::off)
        return "addresses are translated by connection tracking: leave out --tracking off, or choose a "
               "firewall";
    if (setup.protocol == Protocol::tcp && setup.tracking != Tracking::off)
        return "without a handshake connection tracking takes no TCP: --protocol udp, or --tracking off";
    return {};
}

std::string problemWithFrames(const Setup& setup) {
    if (setup.frameSize != imix && (setup.frameSize < smallestFrame || setup.frameSize > largestFrame))
        return fmt::format("--size must be from {} to {} bytes, or imix", smallestFrame, largestFrame);
    if (setup.vlan > lastVlan)
        return fmt::format("--vlan must be from 1 to {}", lastVlan);
    if (setup.vlan != 0 && routes(setup.scenario))
        return "--vlan tags are of bridges: leave out --scenario";
    if (setup.vlanFiltering && setup.vlan == 0)
        return "--vlan-filtering needs the VLAN of the frames: --vlan";
    if (setup.reverse > mostReverse)
        return fmt::format("--reverse must be up to {}", mostReverse);
    if (const auto largest = largestFrameOf(setup.generator); sizesOf(setup).back() > largest)
        return fmt::format("--generator {} sends frames of up to {} bytes: choose packet",
                           nameOf(setup.generator), largest);
    const auto least = framesOf(setup).front().smallestMarked();
    if (sizesOf(setup).front() < least)
        return fmt::format("a mark does not fit into {} bytes: choose a --size of {} or more",
                           sizesOf(setup).front(), least);
    return {};
}
} // namespace

std::string problemWith(const Setup& setup) {
    const unsigned most = routes(setup.scenario) ? mostDestinations : mostStations;
    if (setup.flows == 0 || setup.flows > most)
        return fmt::format("--stations must be from 1 to {}", most);
    if (setup.routes == 0 || setup.routes > mostDestinations)
        return fmt::format("--routes must be from 1 to {}", mostDestinations);
    if (setup.routes > 1 && !routes(setup.scenario))
        return "--routes are of routers: choose one with --scenario";
    if (auto problem = problemWithRules(setup); !problem.empty())
        return problem;
    if (auto problem = problemWith(setup.cabling); !problem.empty())
        return problem;
    if (auto problem = problemWithFirewall(setup); !problem.empty())
        return problem;
    return problemWithFrames(setup);
}

unsigned usualSizeOf(const Setup& setup) {
    auto small = setup;
    small.frameSize = smallestFrame;
    return std::max(smallestFrame, framesOf(small).front().smallestMarked());
}

std::string framesText(const Setup& setup) {
    auto text = setup.frameSize == imix ? "IMIX" : fmt::format("{} byte", setup.frameSize);
    if (setup.protocol == Protocol::tcp)
        text += " TCP";
    text += " frames";
    if (setup.vlan != 0)
        text +=
            fmt::format(" of VLAN {}{}", setup.vlan, setup.vlanFiltering ? ", filtered by the bridge" : "");
    if (setup.tracking != Tracking::established)
        text += fmt::format(", connection tracking: {}", nameOf(setup.tracking));
    if (setup.ruleChanges != 0)
        text += fmt::format(", {} changes of the rules per second", setup.ruleChanges);
    if (setup.reverse != 0)
        text += fmt::format(", {} per second back", setup.reverse);
    return text;
}

unsigned largestFrameOf(Generator generator) {
    switch (generator) {
    case Generator::live:
        return largestLive;
    case Generator::xdp:
        return page;
    case Generator::packet:
    case Generator::automatic:
        break;
    }
    return largestFrame;
}

std::vector<unsigned> sizesOf(const Setup& setup) {
    return setup.frameSize == imix ? std::vector<unsigned>{imixSizes.begin(), imixSizes.end()}
                                   : std::vector{setup.frameSize};
}

} // namespace tna::bench
