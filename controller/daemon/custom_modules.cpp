// SPDX-License-Identifier: Apache-2.0
#include "daemon/custom_modules.hpp"

#include "api/requests.hpp"
#include "base/file.hpp"
#include "base/folder.hpp"
#include "daemon/placement_file.hpp"
#include "deploy/custom/module_elf.hpp"
#include "deploy/custom/module_object.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fnmatch.h>
#include <nlohmann/json.hpp>
#include <set>
#include <spdlog/spdlog.h>

namespace tna::daemon {

namespace {
using nlohmann::json;
namespace fs = std::filesystem;

constexpr std::string_view objectSuffix = ".bpf.o";

bool matches(const std::vector<std::string>& patterns, const std::string& name) {
    return std::ranges::any_of(
        patterns, [&](const auto& pattern) { return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0; });
}

bool wantedOn(const api::Placement& placement, const model::Link& link) {
    return (placement.ports.empty() || matches(placement.ports, link.name)) &&
           (placement.kinds.empty() || matches(placement.kinds, link.kind) ||
            matches(placement.kinds, link.driver));
}

bool wantedAt(const CustomModules::Module& module, tna_hook hook) {
    const auto& hooks = module.placement.hooks;
    return module.functions[hook] &&
           (hooks.empty() || std::ranges::find(hooks, deploy::hookName(hook)) != hooks.end());
}

Result<void> checkPlacement(const deploy::ModuleObject& object, const api::Placement& placement) {
    for (const auto& hook : placement.hooks) {
        unsigned number = 0;
        while (number < TNA_HOOK_COUNT && hook != deploy::hookName(number))
            number++;
        if (number == TNA_HOOK_COUNT)
            return std::unexpected(Error{fmt::format("there is no hook '{}'", hook),
                                         {},
                                         "there are ingress, bridge, route and egress"});
        if (!object.has(static_cast<tna_hook>(number)))
            return std::unexpected(Error{fmt::format("the module has no function for the hook '{}'", hook),
                                         {},
                                         "name another --hook, or none for all that it has functions for"});
    }
    return {};
}

/// As a whole, or not at all: whoever reads meanwhile sees the old file.
Result<void> writeWhole(const fs::path& path, const std::string& content) {
    const auto fresh = path.string() + ".new";
    if (auto written = writeFile(fresh, content); !written)
        return written;
    std::error_code error;
    fs::rename(fresh, path, error);
    if (error)
        return fail("cannot write {}: {}", path.string(), error.message());
    return {};
}
} // namespace

Result<CustomModules::Module> CustomModules::load(const std::string& name, const std::string& object,
                                                  const api::Placement& placement) {
    static std::atomic<unsigned> generation = 0;
    auto loaded = deploy::ModuleObject::load(name, object, deploy::buffersOfKernel());
    if (!loaded)
        return std::unexpected(loaded.error());
    if (auto sound = checkPlacement(**loaded, placement); !sound)
        return std::unexpected(sound.error());
    auto module = make(fmt::format("{}#{}", name, ++generation), std::move(*loaded), placement);
    module.hash = hashOf(object);
    return module;
}

CustomModules::Module CustomModules::make(std::string identity,
                                          std::shared_ptr<const deploy::ModuleObject> object,
                                          api::Placement placement) {
    Module module{std::move(identity), std::move(object), std::move(placement)};
    for (unsigned number = 0; number < TNA_HOOK_COUNT; number++) {
        const auto hook = static_cast<tna_hook>(number);
        module.functions[hook] = module.object->has(hook);
        module.functionsAtTcx[hook] = module.object->has(hook, assemble::Hook::tcx);
    }
    return module;
}

std::optional<CustomModules::Module> CustomModules::put(const std::string& name, Module module) {
    std::optional<Module> before;
    if (const auto it = modules_.find(name); it != modules_.end())
        before = std::move(it->second);
    modules_.insert_or_assign(name, std::move(module));
    return before;
}

bool CustomModules::remove(const std::string& name) {
    return modules_.erase(name) > 0;
}

std::optional<CustomModules::Change> CustomModules::readFrom(const std::string& path,
                                                             const std::string& name) {
    if (!api::isModuleName(name))
        return Change{name, "refused", fail("{} has no name for a custom module", path).error()};
    const auto refused = [&](const Error& error) { return Change{name, "refused", error}; };
    const auto object = readNamedFile(path, deploy::largestModule, patienceWithFiles);
    if (!object)
        return refused(object.error());
    const auto placement = readPlacement((fs::path(directory_) / (name + ".json")).string(), *object);
    if (!placement)
        return refused(placement.error());
    const auto* there = find(name);
    const std::pair found{hashOf(*object), *placement};
    if (there != nullptr && (found == std::pair{there->hash, there->placement} || found == there->instead))
        return std::nullopt;
    auto module = load(name, *object, *placement);
    if (!module)
        return refused(module.error());
    module->kept = true;
    return Change{name, put(name, std::move(*module)) ? "replaced" : "inserted", std::nullopt};
}

std::vector<CustomModules::Change> CustomModules::readDirectory(const std::string& directory) {
    directory_ = directory;
    const auto paths = filesIn(directory, objectSuffix);
    if (!paths) {
        spdlog::error("custom modules stay as they are: {}", paths.error().sentence());
        return {};
    }
    std::vector<Change> changes;
    std::set<std::string> names;
    for (const auto& path : *paths) {
        auto name = fs::path(path).filename().string();
        name.resize(name.size() - objectSuffix.size());
        if (auto change = readFrom(path, name))
            changes.push_back(std::move(*change));
        names.insert(std::move(name));
    }
    std::erase_if(modules_, [&](const auto& item) {
        const bool gone = item.second.kept && !names.contains(item.first);
        if (gone)
            changes.push_back({item.first, "removed", std::nullopt});
        return gone;
    });
    return changes;
}

/// Two files, one after the other. Whoever reads them in between, because this process has ended there, finds
/// the old object with its old placement.
Result<void> CustomModules::keep(const std::string& name, const std::string& object) {
    if (directory_.empty())
        return fail("the configuration names no directory for custom modules");
    std::error_code error;
    fs::create_directories(directory_, error);
    const auto path = (fs::path(directory_) / name).string();
    const auto objectPath = path + std::string(objectSuffix), placementPath = path + ".json";
    auto& module = modules_.at(name);
    const auto document = placementDocument(module.placement);
    auto between = document;
    const auto old = readNamedFile(objectPath, deploy::largestModule, patienceWithFiles);
    if (const auto before = old ? readPlacement(placementPath, *old) : api::Placement{}; old && before) {
        between["for"] = hashOf(object);
        between["before"] = placementDocument(*before);
    }
    auto written = writeWhole(placementPath, between.dump(2));
    if (written)
        written = writeWhole(objectPath, object);
    module.kept = written.has_value();
    if (!written && old)
        if (const auto left = readPlacement(placementPath, *old))
            module.instead.emplace(hashOf(*old), *left);
    if (written && between != document)
        (void)writeWhole(placementPath, document.dump(2)); // what is there says the same
    return written;
}

Result<void> CustomModules::forget(const std::string& name) const {
    if (directory_.empty())
        return {};
    const auto path = fs::path(directory_) / name;
    for (const auto& suffix : {std::string(objectSuffix), std::string(".json")}) {
        std::error_code error;
        fs::remove(path.string() + suffix, error);
        if (error)
            return fail("cannot remove {}{}: {}", path.string(), suffix, error.message());
    }
    return {};
}

const CustomModules::Module* CustomModules::find(const std::string& name) const {
    const auto it = modules_.find(name);
    return it == modules_.end() ? nullptr : &it->second;
}

deploy::ModulesById CustomModules::byIdentity() const {
    deploy::ModulesById objects;
    for (const auto& [name, module] : modules_)
        objects.emplace(module.identity, module.object);
    return objects;
}

std::map<model::IfIndex, assemble::CustomModules> CustomModules::on(const model::Network& network) const {
    std::vector<const Module*> ordered;
    for (const auto& [name, module] : modules_)
        ordered.push_back(&module);
    std::ranges::stable_sort(ordered, {}, [](const Module* module) { return module->placement.priority; });
    std::map<model::IfIndex, assemble::CustomModules> places;
    for (const auto& [ifindex, link] : network.links)
        for (const auto* module : ordered) {
            if (!wantedOn(module->placement, link))
                continue;
            auto& place = places[ifindex];
            for (unsigned hook = 0; hook < TNA_HOOK_COUNT; hook++)
                if (wantedAt(*module, static_cast<tna_hook>(hook)))
                    place.add(static_cast<tna_hook>(hook), module->identity);
        }
    return places;
}

std::set<std::pair<std::string, tna_hook>> CustomModules::atTcx() const {
    std::set<std::pair<std::string, tna_hook>> all;
    for (const auto& [name, module] : modules_)
        for (unsigned hook = 0; hook < TNA_HOOK_COUNT; hook++)
            if (module.functionsAtTcx[hook])
                all.emplace(module.identity, static_cast<tna_hook>(hook));
    return all;
}

} // namespace tna::daemon
