// SPDX-License-Identifier: Apache-2.0
#include "assemble/modules/flowtable.hpp"

#include "model/network.hpp"

#include <algorithm>

namespace tna::assemble {

namespace {
std::vector<GuardWords> guards() {
    return {
        {"flowtable",
         "netfilter's functions at ingress, which are to be the flowtable's alone; the flow, the route that "
         "it remembers, and the neighbour in place",
         "not watched: flowtables are Linux's"}};
}

std::vector<Reason> obstacles(const PortInQuestion& port) {
    auto owned = ownedByMaster(port);
    return owned ? std::vector{std::move(*owned)} : std::vector<Reason>{};
}

std::optional<ProfileModule> wantedFor(const PortInQuestion& port) {
    return flowtableForwards(port) ? std::optional{flowtableModule()} : std::nullopt;
}

/// What is in a flowtable passes none.
bool meetsRules(const Profile& /*profile*/, const ProfileModule& /*module*/) {
    return false;
}

std::vector<std::string> details(const Profile& /*profile*/, const ProfileModule& /*module*/) {
    return {};
}

std::vector<ConstantValue> constants(const Profile& /*profile*/, const ProfileModule& /*module*/,
                                     const CacheSizes& /*sizes*/) {
    return {};
}

std::vector<CacheMap> caches(const ProfileModule& /*module*/, const CacheSizes& /*sizes*/) {
    return {};
}

/// Nothing is remembered.
std::vector<std::uint64_t> presumes(const model::Network& /*network*/) {
    return {};
}

std::vector<Benchmark> benchmarks(bool /*brNetfilter*/) {
    return {{"flowtable", Scene::router, {.modules = {flowtableModule()}}, "no flow is in a flowtable"}};
}

bool customBehindRouting(const PortInQuestion& port) {
    const auto it = port.around.wishes.custom.find(port.link.ifindex);
    return it != port.around.wishes.custom.end() && !it->second.at(TNA_HOOK_ROUTE).empty();
}
} // namespace

bool flowtableForwards(const PortInQuestion& port) {
    const auto& around = port.around;
    if (port.bridge != nullptr || port.hook != Hook::xdp || around.watched() ||
        !around.capabilities.flowtable.available || customBehindRouting(port))
        return false;
    return std::ranges::any_of(around.network.netfilter.hooks, [&](const model::NetfilterHook& hook) {
        return hook.flowtable && hook.device == port.link.name;
    });
}

ProfileModule flowtableModule() {
    return {"flowtable", {}};
}

Manifest flowtableManifest() {
    return {.name = "flowtable",
            .hooks = {Hook::xdp},
            .constant = TNA_CONSTANT_FLOWTABLE,
            .customBehind = {},
            .notInTrials = {},
            .guards = guards(),
            .isFor = flowtableForwards,
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
