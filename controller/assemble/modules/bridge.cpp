// SPDX-License-Identifier: Apache-2.0
#include "assemble/modules/bridge.hpp"

#include "assemble/modules/parameters.hpp"

#include <arpa/inet.h>

namespace tna::assemble {

namespace {
constexpr const char* vlan = "vlan"; ///< EtherType of tags

constexpr std::uint16_t serviceTag = 0x88a8; // ETH_P_8021AD

std::vector<GuardWords> guards() {
    return {{"bridge", "port states and settings, bridge options, the FDB itself",
             "announced; a station that moves is known to have moved by its first frame"},
            {"vlan",
             "the VLANs of both ports, their states and the bridge's protocol; VLAN devices on the "
             "port",
             "VLANs are announced; VLAN devices, which may live in other network namespaces, are "
             "looked for every 100 ms"}};
}

bool isFor(const PortInQuestion& port) {
    return port.bridge != nullptr;
}

std::vector<Reason> obstacles(const PortInQuestion& port) {
    const auto& capabilities = port.around.capabilities;
    if (!capabilities.fastPath.available || port.around.watched() || capabilities.inPlaceFdb.available)
        return {};
    return {{"fdb-not-proved",
             "reading the bridge's FDB in place is not proved: " + capabilities.inPlaceFdb.detail,
             "`tnactl capabilities` shows what was compared"}};
}

void addBridgeSettings(const PortInQuestion& port, std::vector<Reason>& reasons) {
    const auto& options = *port.bridge->bridge;
    const auto& vlans = port.around.capabilities.inPlaceVlans;
    if (options.vlanFiltering && !port.around.watched() && !vlans.available)
        reasons.push_back({"vlans-not-proved",
                           "its bridge " + port.bridge->name +
                               " filters VLANs, and reading them in place is not proved: " + vlans.detail,
                           "`tnactl capabilities` shows what was compared"});
    if (options.ageingTime == 0)
        reasons.push_back({"no-ageing-time",
                           "its bridge " + port.bridge->name + " has an ageing time of 0 and learns nothing",
                           {}});
}

std::vector<Reason> settingsAgainst(const PortInQuestion& port) {
    std::vector<Reason> reasons;
    addBridgeSettings(port, reasons);
    // What is watched keeps its program, by which it is seen at once what moves there: see watchPort().
    if (port.around.watched())
        return reasons;
    const auto& settings = *port.link.bridgePort;
    if (!settings.learning)
        reasons.push_back({"learning-off", "learning is off on this port", {}});
    if (settings.locked || settings.mab)
        reasons.push_back({"locked", "the port is locked: Linux checks who may speak", {}});
    if (settings.vlanTunnel)
        reasons.push_back({"vlan-tunnel", "the port maps VLANs to tunnels", {}});
    if (settings.neighSuppress || settings.neighVlanSuppress)
        reasons.push_back({"neigh-suppress",
                           "Linux answers ARP and neighbour discovery on behalf of others on this port",
                           {}});
    return reasons;
}

std::optional<ProfileModule> wantedFor(const PortInQuestion& port) {
    if (port.bridge == nullptr)
        return std::nullopt;
    const auto& options = *port.bridge->bridge;
    // Where ports are watched, what is told of each has its VLANs.
    const bool filters = options.vlanFiltering && !port.around.watched();
    return bridgeModule({.vlanProtocol = filters ? options.vlanProtocol : std::uint16_t{0}});
}

/// br_netfilter may have them called. Bridges that filter VLANs are left to Linux then.
bool meetsRules(const Profile& profile, const ProfileModule& module) {
    return profile.brNetfilter && bridgeParameters(module).vlanProtocol == 0;
}

std::vector<std::string> details(const Profile& /*profile*/, const ProfileModule& module) {
    const auto protocol = bridgeParameters(module).vlanProtocol;
    if (protocol == 0)
        return {};
    return {protocol == serviceTag ? "vlan-802.1ad" : "vlan"};
}

std::vector<ConstantValue> constants(const Profile& /*profile*/, const ProfileModule& module,
                                     const CacheSizes& /*sizes*/) {
    return {{TNA_CONSTANT_VLAN, htons(bridgeParameters(module).vlanProtocol)}};
}

std::vector<CacheMap> caches(const ProfileModule& module, const CacheSizes& sizes) {
    if (bridgeParameters(module).vlanProtocol == 0)
        return {};
    return {{"flow_vlans", sizes.flows * sizeof(tna_flow_vlans)}};
}

/// By these, Linux gets a frame of each station from time to time.
std::vector<std::uint64_t> presumes(const model::Network& network) {
    std::vector<std::uint64_t> times;
    for (const auto& [ifindex, link] : network.links)
        if (link.bridge)
            times.insert(times.end(), {ifindex, link.bridge->ageingTime, link.bridge->topologyChange});
    return times;
}

std::vector<Benchmark> benchmarks(bool brNetfilter) {
    const Profile bare{.modules = {bridgeModule()}};
    const Profile filtered{.modules = {bridgeModule()}, .brNetfilter = true};
    const auto hooked = [&](tna_hook hook) {
        auto profile = brNetfilter ? filtered : bare;
        profile.custom.add(hook, idleCustomModule);
        return profile;
    };
    auto ruled = brNetfilter ? filtered : bare;
    ruled.bridgeRules = true;
    auto local = filtered;
    local.veth = true;
    const char* without = brNetfilter ? "br_netfilter is in this kernel" : nullptr;
    const char* with = brNetfilter ? nullptr : "br_netfilter is not in this kernel";
    return {
        {.what = "bridge", .profile = bare, .notTimed = without},
        {.what = "bridge, br_netfilter", .profile = filtered, .notTimed = with},
        {.what = "bridge, rules of its own", .profile = ruled, .notTimed = "there are no such rules"},
        {.what = "bridge, module at ingress", .profile = hooked(TNA_HOOK_INGRESS)},
        {.what = "bridge, module behind it", .profile = hooked(TNA_HOOK_BRIDGE)},
        {.what = "bridge, a sender's buffer", .profile = local, .notTimed = "a frame by hand has no sender"}};
}
} // namespace

ProfileModule bridgeModule(const BridgeParameters& parameters) {
    return {"bridge", parametersOf({{vlan, parameters.vlanProtocol}})};
}

BridgeParameters bridgeParameters(const ProfileModule& module) {
    return {.vlanProtocol = static_cast<std::uint16_t>(module.parameter(vlan))};
}

Manifest bridgeManifest() {
    return {.name = "bridge",
            .hooks = {Hook::xdp, Hook::tcx},
            .constant = TNA_CONSTANT_BRIDGE,
            .checked = TNA_CHECKED_BRIDGE,
            .customBehind = {{TNA_HOOK_BRIDGE, TNA_CONSTANT_MODULES_BRIDGE, "bridge_modules"}},
            .guards = guards(),
            .isFor = isFor,
            .obstacles = obstacles,
            .settingsAgainst = settingsAgainst,
            .wantedFor = wantedFor,
            .meetsRules = meetsRules,
            .details = details,
            .constants = constants,
            .caches = caches,
            .presumes = presumes,
            .benchmarks = benchmarks};
}

} // namespace tna::assemble
