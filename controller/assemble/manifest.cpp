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
