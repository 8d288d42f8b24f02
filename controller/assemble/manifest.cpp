// SPDX-License-Identifier: Apache-2.0
#include "assemble/manifest.hpp"

#include <algorithm>
#include <cassert>

namespace tna::assemble {

const Manifest& manifestOf(const std::string& module) {
    const auto all = manifests();
    const auto it = std::ranges::find(all, module, [](const Manifest& manifest) { return manifest.name; });
    assert(it != all.end());
    return *it;
}

namespace {
constexpr const char* atOnce = "announced: seen within milliseconds";

// What frames meet as they come in, and as they leave.
const GuardWords onArrival[] = {
    {"capture", "packet sockets of all devices, of the port and of the egress port; promiscuous bridges",
     "those that want all frames (tcpdump) are announced; others are looked for every 100 ms"},
    {"tc", "filters and programs at ingress and egress",
     "filters are announced; programs without a filter (tcx) are looked for every 100 ms"},
    {"netdev-hook", "netfilter's ingress and egress hooks", atOnce},
    {"bridge-netfilter", "hooks of the bridge family, rule set generation, br_netfilter's settings",
     "rules are announced; br_netfilter's settings are read every 100 ms; ebtables' own rules cannot be "
     "seen, its module is reason enough"}};
const GuardWords onDeparture[] = {
    {"egress", "link state, carrier, MTU, redirect ability, queueing discipline",
     "announced; redirect ability is asked for every 100 ms, before Linux 6.3 it is known by driver"},
    {"sender", "unfinished checksums, segmentation and hidden VLAN tags of local senders (veth)",
     "cannot be seen: ports with local senders are accelerated only if the configuration promises finished "
     "frames"},
    {"namespace", "the port still lives in this network namespace", atOnce}};
} // namespace

Presumed presumedIn(const model::Network& network) {
    Presumed presumed;
    for (const auto& manifest : manifests())
        presumed.emplace(manifest.name, manifest.presumes(network));
    return presumed;
}

std::optional<Reason> ownedByMaster(const PortInQuestion& port) {
    if (port.link.master == 0)
        return std::nullopt;
    const auto* master = port.around.network.link(port.link.master);
    const auto owner =
        master != nullptr ? master->name + " (of kind " + master->kind + ")" : "another device";
    return Reason{"has-master", owner + " owns it, and what such devices receive is left to Linux", {}};
}

std::vector<GuardWords> guardWords() {
    std::vector<GuardWords> all(std::begin(onArrival), std::end(onArrival));
    for (const auto& manifest : manifests())
        std::ranges::copy(manifest.guards, std::back_inserter(all));
    std::ranges::copy(onDeparture, std::back_inserter(all));
    return all;
}

std::vector<Benchmark> allBenchmarks(bool brNetfilter) {
    std::vector<Benchmark> all;
    for (const auto& manifest : manifests())
        std::ranges::move(manifest.benchmarks(brNetfilter), std::back_inserter(all));
    return all;
}

CacheMap flowCache(const CacheSizes& sizes) {
    return {"flows", sizes.flows * sizeof(tna_flow), Counting::flows};
}

std::vector<CacheMap> cachesOf(const Profile& profile, const CacheSizes& sizes) {
    std::vector<CacheMap> all;
    for (const auto& module : profile.modules)
        std::ranges::copy(manifestOf(module.name).caches(module, sizes), std::back_inserter(all));
    return all;
}

std::vector<ConstantValue> constantsOf(const Profile& profile, const CacheSizes& sizes) {
    const auto hooks = customHooksOf(profile);
    std::vector<ConstantValue> all{{TNA_CONSTANT_FLOWS_PER_CPU, sizes.flowsPerCpu},
                                   {TNA_CONSTANT_FLOWS_TOTAL, sizes.flows},
                                   {TNA_CONSTANT_VETH, profile.veth},
                                   {TNA_CONSTANT_BR_NETFILTER, profile.brNetfilter},
                                   {TNA_CONSTANT_RULES, profile.rules},
                                   {TNA_CONSTANT_BRIDGE_RULES, profile.bridgeRules},
                                   {TNA_CONSTANT_TCX_BEHIND, profile.tcxBehind},
                                   {TNA_CONSTANT_COUNTS_LEFT, !profile.tcxBehind || profile.trial},
                                   {TNA_CONSTANT_MODULES, !hooks.empty()}};
    for (const auto& hook : hooks)
        all.push_back({hook.constant, 1});
    for (const auto& module : profile.modules) {
        const auto& manifest = manifestOf(module.name);
        all.push_back({manifest.constant, 1});
        std::ranges::copy(manifest.constants(profile, module, sizes), std::back_inserter(all));
    }
    return all;
}

std::vector<DecisionHook> customHooksOf(const Profile& profile) {
    std::vector<DecisionHook> hooks;
    for (const auto& module : profile.modules)
        if (const auto& behind = manifestOf(module.name).customBehind;
            behind && !profile.custom.at(behind->hook).empty())
            hooks.push_back(*behind);
    return hooks;
}

} // namespace tna::assemble
