// SPDX-License-Identifier: Apache-2.0
#include "assemble/modules/route.hpp"

#include "assemble/modules/bridge.hpp"
#include "assemble/modules/flowtable.hpp"
#include "assemble/modules/parameters.hpp"

#include <cstring>

namespace tna::assemble {

namespace {
// What a profile's name says, too.
constexpr const char* bridges = "bridges";
constexpr const char* vlanDevices = "vlan-devices";
constexpr const char* vlanStacks = "vlan-stacks";
constexpr const char* bridgeVlans = "bridge-vlans";
constexpr const char* manyRoutes = "many-routes";
/// As its six bytes lie in a frame.
constexpr const char* station = "station";

std::vector<GuardWords> guards() {
    return {{"route",
             "generation of the routes, the route, its next hop and the neighbour in place; "
             "forwarding, reverse path filter, netfilter hooks and IPsec policies",
             "not watched: packets are routed by Linux"}};
}

bool isFor(const PortInQuestion& port) {
    return port.bridge == nullptr;
}

std::vector<Reason> obstacles(const PortInQuestion& port) {
    std::vector<Reason> reasons;
    if (port.around.watched())
        reasons.push_back({"routing-watched",
                           "packets are routed by Linux where the kernel is not read in place",
                           "`tnactl capabilities` shows why it is not"});
    if (auto owned = ownedByMaster(port))
        reasons.push_back(std::move(*owned));
    return reasons;
}

std::optional<ProfileModule> wantedFor(const PortInQuestion& port) {
    const auto& around = port.around;
    const bool forBridge = port.bridge != nullptr;
    if (flowtableForwards(port))
        return std::nullopt;
    if (around.watched() || (forBridge && (!around.routedBridges.contains(port.bridge->ifindex) ||
                                           around.wishes.mistrusted.contains("route"))))
        return std::nullopt;
    return routeModule({.bridges = forBridge || !around.routedBridges.empty(),
                        .vlanDevices = !around.underRoutedVlans.empty(),
                        .vlanStacks = around.vlanStacks,
                        .bridgeVlans = around.bridgeVlans,
                        .manyRoutes = around.manyRoutes,
                        .station = forBridge ? port.bridge->mac : model::MacAddress{}});
}

bool meetsRules(const Profile& /*profile*/, const ProfileModule& /*module*/) {
    return true;
}

std::vector<std::string> details(const Profile& profile, const ProfileModule& module) {
    std::vector<std::string> told;
    // Behind the bridge module, bridges are meant anyway.
    if (module.parameter(bridges) != 0 && profile.modules.size() == 1)
        told.emplace_back(bridges);
    for (const auto* name : {vlanDevices, vlanStacks, bridgeVlans, manyRoutes})
        if (module.parameter(name) != 0)
            told.emplace_back(name);
    return told;
}

std::vector<ConstantValue> constants(const Profile& profile, const ProfileModule& module,
                                     const CacheSizes& sizes) {
    const auto wanted = routeParameters(module);
    // Custom modules are told of one tag.
    const bool stacks = wanted.vlanStacks && profile.custom.at(TNA_HOOK_ROUTE).empty();
    return {{TNA_CONSTANT_STACKED, wanted.stacked()},
            {TNA_CONSTANT_VLAN_DEVICES, wanted.vlanDevices || wanted.bridgeVlans},
            {TNA_CONSTANT_VLAN_STACKS, stacks},
            {TNA_CONSTANT_BRIDGE_VLANS, wanted.bridgeVlans},
            {TNA_CONSTANT_STATION, module.parameter(station)},
            {TNA_CONSTANT_DESTINATION_LINES, wanted.manyRoutes ? sizes.destinationLines : 0},
            {TNA_CONSTANT_DESTINATION_LINES_TOTAL, wanted.manyRoutes ? sizes.destinationLinesTotal : 0}};
}

std::vector<CacheMap> caches(const ProfileModule& module, const CacheSizes& sizes) {
    const auto wanted = routeParameters(module);
    std::vector<CacheMap> all{
        {"routes", sizes.flows * sizeof(tna_route), Counting::routes},
        {"routes6", sizes.routes6() * sizeof(tna_route6), Counting::routes6},
    };
    if (wanted.stacked())
        all.push_back({"route_stacks", (sizes.flows + sizes.routes6()) * sizeof(tna_route_stack)});
    if (wanted.manyRoutes && sizes.destinationLinesTotal > 0)
        all.push_back({.name = "destinations",
                       .bytes = std::size_t{sizes.destinationLinesTotal} * TNA_DESTINATION_WAYS *
                                sizeof(tna_destination),
                       .onPageBoundary = true});
    return all;
}

/// Whether the routes of links that are down count.
std::vector<std::uint64_t> presumes(const model::Network& network) {
    const auto all = network.sysctls.find("net.ipv4.conf.all.ignore_routes_with_linkdown");
    std::vector<std::uint64_t> ignoring{all != network.sysctls.end() && all->second != "0"};
    for (const auto& [ifindex, link] : network.links)
        if (link.ip.ignoreRoutesWithLinkDown)
            ignoring.push_back(ifindex);
    return ignoring;
}

std::vector<Benchmark> benchmarks(bool /*brNetfilter*/) {
    const char* changed = "a routed packet is another one: it cannot be run again";
    const model::MacAddress address{.bytes = {0x02, 0x00, 0xff, 0x00, 0x01, 0x01}};
    const Profile betweenBridges{
        .modules = {bridgeModule(), routeModule({.bridges = true, .station = address})}, .brNetfilter = true};
    return {{"route", Scene::router, {.modules = {routeModule()}}, changed},
            {"route between bridges", Scene::routerBetweenBridges, betweenBridges, changed}};
}
} // namespace

ProfileModule routeModule(const RouteParameters& parameters) {
    std::uint64_t address = 0;
    std::memcpy(&address, parameters.station.bytes.data(), parameters.station.bytes.size());
    return {"route", parametersOf({{bridges, parameters.bridges},
                                   {vlanDevices, parameters.vlanDevices},
                                   {vlanStacks, parameters.vlanStacks},
                                   {bridgeVlans, parameters.bridgeVlans},
                                   {manyRoutes, parameters.manyRoutes},
                                   {station, address}})};
}

RouteParameters routeParameters(const ProfileModule& module) {
    RouteParameters parameters{.bridges = module.parameter(bridges) != 0,
                               .vlanDevices = module.parameter(vlanDevices) != 0,
                               .vlanStacks = module.parameter(vlanStacks) != 0,
                               .bridgeVlans = module.parameter(bridgeVlans) != 0,
                               .manyRoutes = module.parameter(manyRoutes) != 0};
    const auto address = module.parameter(station);
    std::memcpy(parameters.station.bytes.data(), &address, parameters.station.bytes.size());
    return parameters;
}

Manifest routeManifest() {
    return {.name = "route",
            .hooks = {Hook::xdp, Hook::tcx},
            .constant = TNA_CONSTANT_ROUTE,
            .checked = TNA_CHECKED_ROUTE,
            .customBehind = {{TNA_HOOK_ROUTE, TNA_CONSTANT_MODULES_ROUTE, "route_modules", true}},
            .notInTrials = {manyRoutes},
            .guards = guards(),
            .isFor = isFor,
            .obstacles = obstacles,
            .wantedFor = wantedFor,
            .meetsRules = meetsRules,
            .details = details,
            .constants = constants,
            .caches = caches,
            .presumes = presumes,
            .benchmarks = benchmarks};
}

} // namespace tna::assemble
