// SPDX-License-Identifier: Apache-2.0
// What holds for any network, looked for by RapidCheck, which makes smaller what it finds.
#include "assemble/assemble.hpp"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <span>

namespace tna::assemble {
namespace {

using model::IfIndex;
using model::Network;

constexpr std::array<IfIndex, 2> bridges{1, 2};
constexpr std::array<IfIndex, 4> bridgePorts{10, 11, 12, 13}; ///< two of each bridge
constexpr std::array<IfIndex, 2> routedPorts{20, 21};
constexpr unsigned allPorts = bridgePorts.size() + routedPorts.size();
constexpr IfIndex vlanOnPort = 30, vlanOnBridge = 31;

/// Something that a network is told, about one of the links where it is about a link.
struct Setting {
    unsigned what;
    unsigned which;
};

model::Link& bridge(Network& network, unsigned which) {
    return network.links.at(bridges[which % bridges.size()]);
}
model::Link& bridgePort(Network& network, unsigned which) {
    return network.links.at(bridgePorts[which % bridgePorts.size()]);
}
model::Link& port(Network& network, unsigned which) {
    which %= allPorts;
    return which < bridgePorts.size() ? bridgePort(network, which)
                                      : network.links.at(routedPorts[which % routedPorts.size()]);
}
model::Link& anyLink(Network& network, unsigned which) {
    return std::next(network.links.begin(), which % network.links.size())->second;
}

using Apply = void (*)(Network&, unsigned);
/// What people want of a network.
constexpr Apply choices[] = {
    [](Network& n, unsigned i) { bridge(n, i).bridge->vlanFiltering = true; },
    [](Network& n, unsigned i) { bridge(n, i).bridge->vlanProtocol = 0x88a8; },
    [](Network& n, unsigned i) { bridge(n, i).bridge->stpState = 1; },
    [](Network& n, unsigned i) { bridge(n, i).addresses = {{4, "10.0.0.1/24", "global"}}; },
    [](Network& n, unsigned i) { bridge(n, i).ip.forwarding4 = true; },
    [](Network& n, unsigned i) { bridgePort(n, i).bridgePort->isolated = true; },
    [](Network& n, unsigned i) { bridgePort(n, i).bridgePort->hairpin = true; },
    [](Network& n, unsigned i) { bridgePort(n, i).bridgePort->learning = false; },
    [](Network& n, unsigned i) { bridgePort(n, i).master = bridges[i % bridges.size()]; },
    [](Network& n, unsigned i) { port(n, i).kind = "veth"; },
    [](Network& n, unsigned i) { port(n, i).mtu = 9000; },
    [](Network& n, unsigned i) { port(n, i).flags ^= model::link_flag::up; },
    [](Network& n, unsigned i) { anyLink(n, i).addresses.push_back({6, "fd00::1/64", "global"}); },
    [](Network& n, unsigned i) { anyLink(n, i).ip.forwarding6 = true; },
    [](Network& n, unsigned i) { anyLink(n, i).ip.reversePathFilter = 1; },
    [](Network& n, unsigned i) { n.links.at(vlanOnPort).lower = port(n, i).ifindex; },
    [](Network& n, unsigned i) { n.links.at(vlanOnBridge).lower = bridges[i % bridges.size()]; },
    [](Network& n, unsigned) { n.routes.push_back({4, 254, {{"unicast", 100000}}}); },
};
/// What may stand in the way, and never helps.
constexpr Apply obstacles[] = {
    [](Network& n, unsigned i) { port(n, i).xdp.driverProgram = 7; },
    [](Network& n, unsigned i) { port(n, i).switchPort = true; },
    [](Network& n, unsigned i) { port(n, i).vlanRxOffload = true; },
    [](Network& n, unsigned i) { port(n, i).ingressFilters = 1; },
    [](Network& n, unsigned i) { port(n, i).egressFilters = 1; },
    [](Network& n, unsigned i) { n.captures.insert(anyLink(n, i).ifindex); },
    [](Network& n, unsigned) { n.captures.insert(0); },
    [](Network& n, unsigned) { n.xfrmPolicies++; },
    [](Network& n, unsigned i) { n.rules.push_back({4, 100 + i, 100, "lookup", "from 10.1.0.0/16"}); },
    [](Network& n, unsigned i) { n.rules.push_back({6, 100 + i, 100, "lookup", "iif eth0"}); },
    [](Network& n, unsigned) {
        n.netfilter.hooks.push_back({"ip", "t", "c", "forward", {}});
        n.netfilter.rules++;
    },
    [](Network& n, unsigned) {
        n.netfilter.hooks.push_back({"bridge", "t", "c", "prerouting", {}});
        n.netfilter.bridgeRules++;
    },
    [](Network& n, unsigned i) { n.qdiscs.push_back({port(n, i).ifindex, 0x10000, 0xffffffff, "tbf", {}}); },
};

void tell(Network& network, const std::vector<Setting>& settings, std::span<const Apply> all) {
    for (const auto& setting : settings)
        all[setting.what % all.size()](network, setting.which);
}

Network networkOf(const std::vector<Setting>& settings) {
    Network network;
    const auto add = [&](IfIndex ifindex) -> model::Link& {
        auto& link = network.links[ifindex];
        link.ifindex = ifindex;
        link.name = "link" + std::to_string(ifindex);
        link.flags = model::link_flag::up | model::link_flag::running | model::link_flag::lowerUp;
        link.mtu = 1500;
        link.driver = "ena";
        return link;
    };
    for (const auto ifindex : bridges) {
        auto& link = add(ifindex);
        link.kind = "bridge";
        link.bridge.emplace();
    }
    for (std::size_t i = 0; i < bridgePorts.size(); i++) {
        auto& link = add(bridgePorts[i]);
        link.master = bridges[i / 2];
        link.bridgePort.emplace().state = model::StpState::forwarding;
    }
    for (const auto ifindex : routedPorts) {
        auto& link = add(ifindex);
        link.addresses = {{4, "10.0." + std::to_string(ifindex) + ".1/24", "global"}};
        link.ip.forwarding4 = true;
    }
    for (const auto ifindex : {vlanOnPort, vlanOnBridge}) {
        auto& link = add(ifindex);
        link.kind = "vlan";
        link.lower = ifindex == vlanOnPort ? routedPorts[0] : bridges[0];
        link.vlan.emplace().vid = 5;
        link.addresses = {{4, "10.1." + std::to_string(ifindex) + ".1/24", "global"}};
        link.ip.forwarding4 = true;
    }
    tell(network, settings, choices);
    return network;
}

/// Of a kernel and drivers that can do everything.
capability::Capabilities everything() {
    capability::Capabilities all;
    for (auto* part : {&all.fastPath, &all.inPlaceFdb, &all.inPlaceVlans})
        part->available = true;
    for (IfIndex ifindex = bridgePorts.front(); ifindex <= routedPorts.back(); ifindex++)
        all.devices[ifindex] = {.native = true, .redirectTarget = true, .frags = true};
    return all;
}

Plan planOf(const Network& network, const Wishes& wishes = {}) {
    return assemble(network, everything(), wishes);
}

std::set<IfIndex> acceleratedIn(const Plan& plan) {
    std::set<IfIndex> found;
    for (const auto& [ifindex, port] : plan.ports)
        if (port.profile)
            found.insert(ifindex);
    return found;
}

} // namespace
} // namespace tna::assemble

namespace rc {
template <>
struct Arbitrary<tna::assemble::Setting> {
    static Gen<tna::assemble::Setting> arbitrary() {
        return gen::build<tna::assemble::Setting>(
            gen::set(&tna::assemble::Setting::what, gen::inRange(0U, 64U)),
            gen::set(&tna::assemble::Setting::which, gen::inRange(0U, 16U)));
    }
};
} // namespace rc

namespace tna::assemble {
namespace {

void showValue(const Setting& setting, std::ostream& out) {
    out << "{" << setting.what << ", " << setting.which << "}";
}

/// The same networks each time, unless the environment wants others (RC_PARAMS="seed=7 max_success=100000").
const bool always = ::setenv("RC_PARAMS", "seed=1 max_success=300", 0) == 0;

TEST(AnyNetwork, BeginsWithAllPortsAccelerated) {
    ASSERT_TRUE(always);
    EXPECT_EQ(acceleratedIn(planOf(networkOf({}))).size(), allPorts);
}

RC_GTEST_PROP(AnyNetwork, GivesEachPortAProfileOrAReason, (const std::vector<Setting>& settings)) {
    for (const auto& [ifindex, port] : planOf(networkOf(settings)).ports) {
        RC_ASSERT(port.profile.has_value() == port.reasons.empty());
        for (const auto& reason : port.reasons)
            RC_ASSERT(!reason.code.empty() && !reason.text.empty());
    }
}

RC_GTEST_PROP(AnyNetwork, IsNeverAcceleratedMoreByAnObstacle,
              (const std::vector<Setting>& settings, const std::vector<Setting>& inTheWay)) {
    auto network = networkOf(settings);
    const auto before = acceleratedIn(planOf(network));
    tell(network, inTheWay, obstacles);
    const auto after = acceleratedIn(planOf(network));
    RC_ASSERT(std::ranges::includes(before, after));
}

RC_GTEST_PROP(AnyNetwork, KeepsItsOtherPortsWhenOneIsPaused, (const std::vector<Setting>& settings)) {
    const auto network = networkOf(settings);
    auto before = planOf(network);
    const auto paused = *rc::gen::elementOf(bridgePorts);
    Wishes wishes;
    wishes.paused.insert(paused);
    auto after = planOf(network, wishes);
    RC_ASSERT(!after.ports.contains(paused) ||
              (!after.ports.at(paused).profile && !after.ports.at(paused).egress));
    before.ports.erase(paused);
    after.ports.erase(paused);
    RC_ASSERT(before == after);
}

RC_GTEST_PROP(AnyNetwork, IsLeftToLinuxWhereTheKernelCannotDoIt, (const std::vector<Setting>& settings)) {
    auto capabilities = everything();
    capabilities.fastPath = {};
    RC_ASSERT(acceleratedIn(assemble(networkOf(settings), capabilities, {})).empty());
}

RC_GTEST_PROP(AnyNetwork, IsTheSameInWhateverOrderItIsTold, (const std::vector<Setting>& settings)) {
    auto network = networkOf(settings);
    tell(network, settings, obstacles);
    const auto before = planOf(network);
    std::ranges::reverse(network.qdiscs);
    std::ranges::reverse(network.routes);
    std::ranges::reverse(network.rules);
    std::ranges::reverse(network.netfilter.hooks);
    for (auto& [ifindex, link] : network.links)
        std::ranges::reverse(link.addresses);
    RC_ASSERT(planOf(network) == before);
}

} // namespace
} // namespace tna::assemble
