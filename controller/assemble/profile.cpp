// SPDX-License-Identifier: Apache-2.0
#include "assemble/profile.hpp"

#include "assemble/manifest.hpp"

#include <algorithm>
#include <ranges>

namespace tna::assemble {

void CustomModules::set(tna_hook hook, std::vector<std::string> identities) {
    if (identities.empty())
        byHook_.erase(hook);
    else
        byHook_[hook] = std::move(identities);
}

const std::vector<std::string>& CustomModules::at(tna_hook hook) const {
    static const std::vector<std::string> none;
    const auto it = byHook_.find(hook);
    return it == byHook_.end() ? none : it->second;
}

std::uint64_t ProfileModule::parameter(const std::string& called) const {
    const auto it = parameters.find(called);
    return it == parameters.end() ? 0 : it->second;
}

const ProfileModule* Profile::module(const std::string& called) const {
    const auto it = std::ranges::find(modules, called, &ProfileModule::name);
    return it == modules.end() ? nullptr : &*it;
}

std::uint64_t Profile::parameter(const std::string& of, const std::string& called) const {
    const auto* found = module(of);
    return found == nullptr ? 0 : found->parameter(called);
}

std::vector<std::string> Profile::moduleNames() const {
    std::vector<std::string> names;
    for (const auto& module : modules)
        names.push_back(module.name);
    return names;
}

std::string Profile::name() const {
    std::string text;
    for (const auto& module : modules)
        text += (text.empty() ? "" : "+") + module.name;
    if (text.empty())
        text = "none";
    for (const auto& module : std::views::reverse(modules))
        for (const auto& detail : manifestOf(module.name).details(*this, module))
            text += "+" + detail;
    if (rules)
        text += "+rules";
    if (bridgeRules)
        text += "+bridge-rules";
    if (hook == Hook::tcx)
        text += "+tcx";
    if (tcxBehind)
        text += "+tcx-behind";
    if (veth)
        text += "+veth";
    if (watched)
        text += "+watched";
    if (brNetfilter)
        text += "+br_netfilter";
    if (!custom.empty())
        text += "+custom";
    return text;
}

} // namespace tna::assemble
