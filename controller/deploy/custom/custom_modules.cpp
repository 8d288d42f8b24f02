// SPDX-License-Identifier: Apache-2.0
#include "deploy/custom/custom_modules.hpp"

#include <algorithm>

namespace tna::deploy {

Result<CustomModuleSet::Modules> CustomModuleSet::named(const std::vector<std::string>& ids) const {
    if (ids.size() > mostModulesInChain)
        return std::unexpected(Error{fmt::format("{} custom modules at one hook of a port", ids.size()),
                                     fmt::format("{} are the most", mostModulesInChain),
                                     "remove one, or place it on other ports"});
    Modules modules;
    for (const auto& id : ids) {
        const auto it = modules_.find(id);
        if (it == modules_.end())
            return fail("there is no custom module '{}'", id);
        modules.push_back(it->second);
    }
    return modules;
}

Result<ModuleChain> CustomModuleSet::chain(const std::vector<std::string>& ids, tna_hook hook,
                                           int last) const {
    const auto modules = named(ids);
    if (!modules)
        return std::unexpected(modules.error());
    return ModuleChain::load(*modules, hook, at_, last, maps_);
}

Result<Instructions> CustomModuleSet::join(const Instructions& program, const std::vector<std::string>& ids,
                                           tna_hook hook, Instructions last) const {
    const auto modules = named(ids);
    if (!modules)
        return std::unexpected(modules.error());
    const auto behind = joinChain(*modules, hook, at_, std::move(last), maps_);
    auto joined = behind ? goOnAtMarks(program, hook, *behind) : std::nullopt;
    if (!joined)
        return fail("a custom module cannot become a part of the pipeline");
    return std::move(*joined);
}

bool CustomModuleSet::any(const assemble::Profile& profile,
                          bool (ModuleObject::*does)(tna_hook, assemble::Hook) const) const {
    return std::ranges::any_of(assemble::customHooksOf(profile), [&](const auto& behind) {
        return std::ranges::any_of(profile.custom.at(behind.hook), [&](const auto& id) {
            const auto it = modules_.find(id);
            return it == modules_.end() || ((*it->second).*does)(behind.hook, at_);
        });
    });
}

} // namespace tna::deploy
