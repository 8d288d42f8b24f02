// SPDX-License-Identifier: Apache-2.0
#include "daemon/custom_modules.hpp"

#include "api/requests.hpp"
#include "base/file.hpp"
#include "base/log_fields.hpp"
#include "deploy/custom/module_elf.hpp"
#include "deploy/custom/module_object.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
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

std::vector<std::string> texts(const json& document, const char* key) {
    std::vector<std::string> list;
    if (document.contains(key) && document[key].is_array())
        for (const auto& item : document[key])
            if (item.is_string())
                list.push_back(item.get<std::string>());
    return list;
}

json placementDocument(const api::Placement& placement) {
    return {{"hooks", placement.hooks},
            {"ports", placement.ports},
            {"kinds", placement.kinds},
            {"priority", placement.priority}};
}

/// FNV-1a, the same in each version: it is in files.
std::uint64_t hashOf(const std::string& object) {
    std::uint64_t hash = 0xcbf29ce484222325U;
    for (const auto byte : object)
        hash = (hash ^ static_cast<std::uint8_t>(byte)) * 0x100000001b3U;
    return hash;
}

/// A module without a placement beside it is wanted everywhere. Where one was written for another object,
/// which never came, that of before holds: see CustomModules::keep().
Result<api::Placement> readPlacement(const fs::path& path, const std::string& object) {
    std::error_code error;
    if (!fs::exists(path, error))
        return api::Placement{};
    const auto text = readFile(path);
    if (!text)
        return std::unexpected(text.error());
    auto document = json::parse(*text, nullptr, false);
    if (!document.is_object())
        return fail("{} is not a JSON object", path.string());
    if (document.contains("for") && document["for"] != hashOf(object) && document.contains("before"))
        document = json(document["before"]);
    api::Placement placement{texts(document, "hooks"), texts(document, "ports"), texts(document, "kinds")};
    if (document.contains("priority") && document["priority"].is_number_integer())
        placement.priority = document["priority"].get<int>();
    return placement;
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
    for (unsigned hook = 0; hook < TNA_HOOK_COUNT; hook++)
        module.functions[hook] = module.object->has(static_cast<tna_hook>(hook));
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

void CustomModules::readDirectory(const std::string& directory) {
    directory_ = directory;
    std::error_code error;
    std::set<std::string> names;
    for (const auto& file : fs::directory_iterator(directory, error)) {
        const auto base = file.path().filename().string();
        if (!base.ends_with(objectSuffix) || file.file_size(error) > deploy::largestModule)
            continue;
        const auto name = base.substr(0, base.size() - objectSuffix.size());
        const LogFields about{{"TNA_MODULE", name}};
        if (!api::isModuleName(name)) {
            spdlog::error("{} is left out: that is no name for a custom module", file.path().string());
            continue;
        }
        names.insert(name);
        const auto object = readFile(file.path());
        const auto placement = object ? readPlacement(fs::path(directory) / (name + ".json"), *object)
                                      : std::unexpected(object.error());
        if (!placement) {
            spdlog::error("custom module {}: {}", name, placement.error().sentence());
            continue;
        }
        const auto* there = find(name);
        const std::pair found{hashOf(*object), *placement};
        if (there != nullptr &&
            (found == std::pair{there->hash, there->placement} || found == there->instead))
            continue;
        auto module = load(name, *object, *placement);
        if (!module) {
            spdlog::error("custom module {}: {}", name, module.error().sentence());
            continue;
        }
        module->kept = true;
        put(name, std::move(*module));
    }
    std::erase_if(modules_,
                  [&](const auto& item) { return item.second.kept && !names.contains(item.first); });
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
    const auto old = readFile(objectPath);
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

} // namespace tna::daemon
