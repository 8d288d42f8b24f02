// SPDX-License-Identifier: Apache-2.0
#include "daemon/wanted.hpp"

#include "config/selection.hpp"

#include <algorithm>

namespace tna::daemon {

std::optional<unsigned> manyRoutes(const config::Config& config) {
    return config.limits.destinations > 0 ? std::optional{config.limits.manyRoutes} : std::nullopt;
}

bool pausePorts(Paused& all, const assemble::Plan& plan, const std::optional<std::string>& port,
                bool paused) {
    if (!port) {
        all.all = paused;
        if (!paused)
            all.ports.clear();
        return true;
    }
    const bool known =
        std::ranges::any_of(plan.ports, [&](const auto& item) { return item.second.name == *port; });
    if (!known && (paused || !all.ports.contains(*port)))
        return false;
    if (paused)
        all.ports.insert(*port);
    else
        all.ports.erase(*port);
    return true;
}

namespace {
void takeIn(assemble::Wishes& wishes, const CustomModules& modules, const model::Network& network) {
    wishes.custom = modules.on(network);
    wishes.customAtTcx = modules.atTcx();
    const auto* steering = modules.find(steeringModule);
    if (steering == nullptr)
        return;
    for (const auto& [ifindex, custom] : wishes.custom)
        if (std::ranges::find(custom.at(TNA_HOOK_INGRESS), steering->identity) !=
            custom.at(TNA_HOOK_INGRESS).end())
            wishes.steered.emplace(ifindex, steering->identity);
}
} // namespace

assemble::Wishes wishesFor(const model::Network& network, const Wanted& wanted, const Observed& observed,
                           const RefusedPorts& refused, const deploy::DataPath& dataPath) {
    const auto& config = wanted.config;
    assemble::Wishes wishes;
    wishes.allPaused = wanted.paused.all;
    const auto mistrusted = dataPath.selfCheck().mistrusted();
    wishes.mistrusted = {mistrusted.begin(), mistrusted.end()};
    wishes.refresh = std::chrono::milliseconds(config.kernel.refresh);
    takeIn(wishes, wanted.modules, network);
    // A network function on a port says more than what kinds of ports are to be at tcx.
    auto named = config.ports;
    named.tcxKinds.clear();
    for (const auto& [ifindex, link] : network.links) {
        const auto& ports = wishes.steered.contains(ifindex) ? named : config.ports;
        if (auto excluded = config::excludedBy(ports, link.name, link.driver, link.kind))
            wishes.excluded[ifindex] = {excluded->code, excluded->sentence, excluded->hint};
        if (wanted.paused.ports.contains(link.name))
            wishes.paused.insert(ifindex);
        if (dataPath.attached(ifindex))
            wishes.attached.insert(ifindex);
        if (config::promisesFinishedFrames(config.ports, link.name))
            wishes.finished.insert(ifindex);
        if (config::isForTcx(ports, link.name, link.kind))
            wishes.atTcx.insert(ifindex);
        if (config::isForTcx(named, link.name, link.kind))
            wishes.atTcxByName.insert(ifindex);
        if (config::trusts(config.ports, link.driver, link.kind))
            wishes.trusted.insert(ifindex);
    }
    wishes.moreForTcx = !config.ports.tcxKinds.empty();
    wishes.refused = refused.reasons();
    wishes.refusalsUnseen = refused.blind();
    wishes.tcxIngress = observed.tcxIngress;
    wishes.tcxEgress = observed.tcxEgress;
    wishes.ringBridges = observed.ringBridges;
    wishes.promiscuousBridges = observed.promiscuousBridges;
    wishes.underVlanDevices = observed.underVlanDevices;
    wishes.manyRoutes = manyRoutes(config);
    return wishes;
}

} // namespace tna::daemon
