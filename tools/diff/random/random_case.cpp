// SPDX-License-Identifier: Apache-2.0
#include "diff/random/random_case.hpp"

#include "diff/random/packets.hpp"
#include "diff/random/scenario.hpp"

namespace tna::diff {

namespace {
std::unique_ptr<Scenario> scenario(Chance& chance, Kind kind) {
    if (kind == Kind::any)
        kind = chance.oneOf({Kind::bridge, Kind::bridge, Kind::router, Kind::router, Kind::routedBridge});
    switch (kind) {
    case Kind::router:
        return routerScenario(chance);
    case Kind::routedBridge:
        return routedBridgeScenario(chance);
    case Kind::vlanRouter:
        return vlanRouterScenario(chance);
    case Kind::vrf:
        return vrfScenario(chance);
    case Kind::tables:
        return tablesScenario(chance);
    case Kind::routeOptions:
        return routeOptionsScenario(chance);
    case Kind::qdisc:
        return qdiscScenario(chance);
    case Kind::sysctl:
        return sysctlScenario(chance);
    case Kind::links:
        return linksScenario(chance);
    case Kind::firewall:
        return firewallScenario(chance);
    case Kind::nat:
        return natScenario(chance);
    case Kind::bridgedFirewall:
        return bridgedFirewallScenario(chance);
    case Kind::bridgeRules:
        return bridgeRulesScenario(chance);
    case Kind::containers:
        return containersScenario(chance);
    default:
        return bridgeScenario(chance, kind == Kind::vlan);
    }
}
} // namespace

Case randomCase(std::uint64_t seed, std::size_t packets, Kind kind) {
    Chance chance(seed);
    Case made;
    made.lazy = true;
    made.flowsPerCpu = chance.oneOf<unsigned>({16, 64, 256, 4096});
    const auto world = scenario(chance, kind);
    for (auto& line : world->setup())
        made.steps.emplace_back(Command{std::move(line)});
    made.connections = world->connections();
    const auto source = world->source();
    for (auto& packet : introductions(world->topology()))
        made.steps.emplace_back(std::move(packet));
    // Some configurations change often, others rarely, but none hardly ever.
    const std::size_t between =
        std::min(chance.oneOf<std::size_t>({50, 150, 500, 1500}), 1 + packets / world->pace().changes);
    while (packets > 0) {
        for (auto run = std::min({packets, 1 + std::size_t{chance.below(2 * between)}, world->untilNext()});
             run > 0; run--, packets--)
            made.steps.emplace_back(source->next());
        for (auto& step : world->change())
            made.steps.push_back(std::move(step));
        if (!chance.once(world->pace().unheard)) {
            if (const auto late = world->pace().late; late > 0)
                for (auto run = std::min<std::size_t>(packets, chance.below(late)); run > 0; run--, packets--)
                    made.steps.emplace_back(source->next());
            made.steps.emplace_back(Directive{Directive::Verb::follow, {}, false});
        }
        if (chance.once(60)) {
            made.steps.emplace_back(Directive{Directive::Verb::stop, {}, false});
            if (chance.once(2))
                made.steps.emplace_back(source->next());
            made.steps.emplace_back(Directive{Directive::Verb::start, {}, false});
        }
    }
    return made;
}

} // namespace tna::diff
