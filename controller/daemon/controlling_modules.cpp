// SPDX-License-Identifier: Apache-2.0
// The part of the controller that puts custom modules in place, and tells of them.
#include "base/log_fields.hpp"
#include "daemon/controller.hpp"

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
            {"counters", countersOf(*module.object)},
            {"maps", maps}};
}
} // namespace

void Controller::useCustomModules() {
    loaded_.fastPath->setModules(custom_.byIdentity());
}

/// Where a port cannot be what it is to be with the modules there are, they are what they were before.
Result<void> Controller::useOrUndo(const std::function<void()>& undo) {
    const auto failed = failures_;
    useCustomModules();
    reconcile(std::chrono::steady_clock::now());
    for (const auto& [ifindex, error] : failures_)
        if (!failed.contains(ifindex)) {
            Error refused = error;
            undo();
            useCustomModules();
            reconcile(std::chrono::steady_clock::now());
            return std::unexpected(std::move(refused));
        }
    return {};
}

json Controller::customModules() {
    const std::lock_guard lock{mutex_};
    json list = json::array();
    for (const auto& [name, module] : custom_.all())
        if (!name.starts_with('@')) // those of traces are nobody's
            list.push_back(documentOf(name, module, plan_));
    return {{"api", 1}, {"modules", list}};
}

std::optional<json> Controller::customModule(const std::string& name, const std::optional<std::string>& map) {
    const std::lock_guard lock{mutex_};
    const auto* module = custom_.find(name);
    if (module == nullptr)
        return std::nullopt;
    if (!map)
        return documentOf(name, *module, plan_);
    const auto entries = module->object->dump(*map, mostEntries);
    if (!entries)
        return std::nullopt;
    json list = json::array();
    for (const auto& entry : *entries)
        list.push_back({{"key", entry.key}, {"values", entry.values}});
    return json{{"api", 1}, {"module", name}, {"map", *map}, {"entries", list}};
}

Result<json> Controller::placeCustomModule(const std::string& name, const std::string& object,
                                           const api::Placement& placement, bool replace) {
    const auto wrong = [&](bool there) -> std::optional<Error> {
        if (there == replace)
            return std::nullopt;
        return there ? Error{"there is a custom module '" + name + "' already",
                             {},
                             "`tnactl module replace` puts another one in its place"}
                     : Error{"there is no custom module '" + name + "'",
                             {},
                             "`tnactl module insert` inserts it"};
    };
    {
        const std::lock_guard lock{mutex_};
        if (auto error = wrong(custom_.find(name) != nullptr))
            return std::unexpected(std::move(*error));
    }
    // What the kernel needs for verifying is not to keep the network waiting.
    auto module = CustomModules::load(name, object, placement);
    if (!module)
        return std::unexpected(module.error());
    const std::lock_guard lock{mutex_};
    if (auto error = wrong(custom_.find(name) != nullptr))
        return std::unexpected(std::move(*error));
    auto before = custom_.put(name, std::move(*module));
    const auto undo = [&] {
        if (before)
            custom_.put(name, std::move(*before));
        else
            custom_.remove(name);
    };
    if (auto used = useOrUndo(undo); !used)
        return std::unexpected(used.error());
    const LogFields about{{"TNA_MODULE", name}};
    if (auto kept = custom_.keep(name, object); !kept)
        spdlog::warn("custom module {} will not survive a restart: {}", name, kept.error().sentence());
    const char* action = replace ? "replaced" : "inserted";
    spdlog::info("custom module {}: {}", name, action);
    followers_.tell({{"event", "module"}, {"module", name}, {"action", action}});
    return documentOf(name, *custom_.find(name), plan_);
}

Result<bool> Controller::removeCustomModule(const std::string& name) {
    const std::lock_guard lock{mutex_};
    const auto* module = custom_.find(name);
    if (module == nullptr)
        return false;
    // One that could not be kept may have taken the place of one that was.
    if (auto forgotten = custom_.forget(name); !forgotten)
        return std::unexpected(forgotten.error());
    // What is in place is named by the plan until the next one is.
    const auto keptAlive = module->object;
    custom_.remove(name);
    reconcile(std::chrono::steady_clock::now());
    useCustomModules();
    const LogFields about{{"TNA_MODULE", name}};
    spdlog::info("custom module {}: removed", name);
    followers_.tell({{"event", "module"}, {"module", name}, {"action", "removed"}});
    return true;
}

} // namespace tna::daemon
