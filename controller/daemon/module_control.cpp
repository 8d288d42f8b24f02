// SPDX-License-Identifier: Apache-2.0
#include "daemon/module_control.hpp"

#include "base/log_fields.hpp"
#include "deploy/custom/module_object.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
using nlohmann::json;

constexpr std::size_t mostEntries = 4096; ///< of a map, in one answer
constexpr std::array<const char*, TNA_VERDICT_COUNT> verdictNames{"continue", "linux", "drop", "port",
                                                                  "socket"};

json countersOf(const deploy::ModuleObject& object) {
    const auto counters = object.counters();
    json list = json::array();
    for (unsigned hook = 0; hook < TNA_HOOK_COUNT; hook++) {
        if (!object.has(static_cast<tna_hook>(hook)))
            continue;
        json row = {{"hook", deploy::hookName(hook)}, {"faults", counters[hook].faults}};
        for (unsigned i = 0; i < TNA_VERDICT_COUNT; i++)
            row[verdictNames[i]] = counters[hook].verdicts[i];
        list.push_back(std::move(row));
    }
    return list;
}

bool contains(const std::vector<std::string>& list, const std::string& identity) {
    return std::ranges::find(list, identity) != list.end();
}

/// Where it is, as the plan has it.
json placesOf(const assemble::Plan& plan, const std::string& identity) {
    json places = json::array();
    for (const auto& [ifindex, port] : plan.ports) {
        std::vector<std::string> hooks;
        if (port.profile)
            for (const auto& [hook, list] : port.profile->custom.byHook())
                if (contains(list, identity))
                    hooks.emplace_back(deploy::hookName(hook));
        if (contains(port.egressModules, identity))
            hooks.emplace_back("egress");
        if (!hooks.empty())
            places.push_back({{"port", port.name}, {"hooks", hooks}});
    }
    return places;
}

/// The hooks at which ports at tcx can have it, too.
json hooksAtTcx(const deploy::ModuleObject& object) {
    json hooks = json::array();
    for (unsigned hook = 0; hook < TNA_HOOK_COUNT; hook++)
        if (object.has(static_cast<tna_hook>(hook), assemble::Hook::tcx))
            hooks.push_back(deploy::hookName(hook));
    return hooks;
}

json documentOf(const std::string& name, const CustomModules::Module& module, const assemble::Plan& plan) {
    json maps = json::array();
    for (const auto& map : module.object->maps())
        maps.push_back(
            {{"name", map.name}, {"id", map.id}, {"type", map.type}, {"max_entries", map.maxEntries}});
    return {{"api", 1},
            {"name", name},
            {"priority", module.placement.priority},
            {"hooks", module.placement.hooks},
            {"ports", module.placement.ports},
            {"kinds", module.placement.kinds},
            {"kept", module.kept},
            {"places", placesOf(plan, module.identity)},
            {"tcx", hooksAtTcx(*module.object)},
            {"counters", countersOf(*module.object)},
            {"maps", maps}};
}
} // namespace

json ModuleControl::list() const {
    json list = json::array();
    for (const auto& [name, module] : modules_.all())
        if (!name.starts_with('@')) // those of traces are nobody's
            list.push_back(documentOf(name, module, supervisor_.plan()));
    return {{"api", 1}, {"modules", list}};
}

std::optional<json> ModuleControl::find(const std::string& name,
                                        const std::optional<std::string>& map) const {
    const auto* module = modules_.find(name);
    if (module == nullptr)
        return std::nullopt;
    if (!map)
        return documentOf(name, *module, supervisor_.plan());
    const auto entries = module->object->dump(*map, mostEntries);
    if (!entries)
        return std::nullopt;
    json list = json::array();
    for (const auto& entry : *entries)
        list.push_back({{"key", entry.key}, {"values", entry.values}});
    return json{{"api", 1}, {"module", name}, {"map", *map}, {"entries", list}};
}

void ModuleControl::readDirectory(const std::string& directory) {
    for (const auto& change : modules_.readDirectory(directory))
        if (change.refused)
            reporter_.moduleRefused(change.name, *change.refused);
        else
            reporter_.moduleChanged(change.name, change.action);
}

Result<void> ModuleControl::checkPlace(const std::string& name, bool replace) const {
    const bool there = modules_.find(name) != nullptr;
    if (there == replace)
        return {};
    return std::unexpected(
        there ? Error{"there is a custom module '" + name + "' already",
                      {},
                      "`tnactl module replace` puts another one in its place"}
              : Error{"there is no custom module '" + name + "'", {}, "`tnactl module insert` inserts it"});
}

Result<json> ModuleControl::place(const std::string& name, const std::string& object,
                                  CustomModules::Module module, bool replace) {
    if (auto possible = checkPlace(name, replace); !possible)
        return std::unexpected(possible.error());
    auto before = modules_.put(name, std::move(module));
    const auto undo = [&] {
        if (before)
            modules_.put(name, std::move(*before));
        else
            modules_.remove(name);
    };
    if (auto used = supervisor_.useModulesOrUndo(undo); !used)
        return std::unexpected(used.error());
    if (auto kept = modules_.keep(name, object); !kept) {
        const LogFields about{{"TNA_MODULE", name}};
        spdlog::warn("custom module {} will not survive a restart: {}", name, kept.error().sentence());
    }
    reporter_.moduleChanged(name, replace ? "replaced" : "inserted");
    return documentOf(name, *modules_.find(name), supervisor_.plan());
}

Result<bool> ModuleControl::remove(const std::string& name) {
    const auto* module = modules_.find(name);
    if (module == nullptr)
        return false;
    // One that could not be kept may have taken the place of one that was.
    if (auto forgotten = modules_.forget(name); !forgotten)
        return std::unexpected(forgotten.error());
    // What is in place is named by the plan until the next one is.
    const auto keptAlive = module->object;
    modules_.remove(name);
    supervisor_.reconcile();
    supervisor_.useModules();
    reporter_.moduleChanged(name, "removed");
    return true;
}

} // namespace tna::daemon
