// SPDX-License-Identifier: Apache-2.0
// Custom modules in the fast path: before the pipeline, behind its decisions, and at egress.
#include "deploy/fast_path.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <spdlog/spdlog.h>

#include "finish.skel.h"

namespace tna::deploy {

/// With the maps of the pipeline that it belongs to.
::finish* FastPath::loadFinish(const PipelineObject& pipeline) {
    std::unique_ptr<::finish, void (*)(::finish*)> opened{finish__open(), finish__destroy};
    if (!opened || bpf_map__reuse_fd(opened->maps.port_counters, pipeline.portCounters) != 0 ||
        bpf_map__reuse_fd(opened->maps.port_slots, pipeline.portSlots) != 0 ||
        bpf_map__reuse_fd(opened->maps.egress_ports, pipeline.egressPorts) != 0 ||
        bpf_map__reuse_fd(opened->maps.decision, pipeline.decision) != 0 ||
        bpf_program__set_flags(opened->progs.finish, programFlags(pipeline.buffers)) != 0 ||
        finish__load(opened.get()) != 0)
        return nullptr;
    return opened.release();
}

void FastPath::unloadFinish(::finish* finish) {
    finish__destroy(finish);
}

/// Makes a device what a slot stands for, with the custom modules that frames pass as they leave by it.
Result<void> FastPath::setEgress(unsigned slot, model::IfIndex ifindex, const ModuleChain* modules) const {
    const __u32 key = slot;
    bpf_devmap_val device{};
    device.ifindex = ifindex;
    device.bpf_prog.fd = modules != nullptr ? modules->head() : -1;
    if (bpf_map_update_elem(pipeline_.egressPorts, &key, &device, BPF_ANY) != 0)
        return failErrno(errno, "cannot make the device with index {} an egress port", ifindex);
    return {};
}

Result<FastPath::Modules> FastPath::modulesOf(const std::vector<std::string>& ids) const {
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

SharedMaps FastPath::mapsForModules() const {
    return {pipeline_.egressPorts, pipeline_.portSlots, pipeline_.decision};
}

Result<ModuleChain> FastPath::chain(const std::vector<std::string>& modules, tna_hook hook, int last) const {
    const auto objects = modulesOf(modules);
    if (!objects)
        return std::unexpected(objects.error());
    return ModuleChain::load(*objects, hook, last, mapsForModules());
}

/// Whether one of the modules behind decisions may do something at its hook.
bool FastPath::anyOf(const assemble::Profile& profile, bool (ModuleObject::*does)(tna_hook) const) const {
    return std::ranges::any_of(assemble::customHooksOf(profile), [&](const auto& behind) {
        return std::ranges::any_of(profile.custom.at(behind.hook), [&](const auto& id) {
            const auto it = modules_.find(id);
            return it == modules_.end() || ((*it->second).*does)(behind.hook);
        });
    });
}

/// The pipeline with the modules behind its decisions as one program, in which nothing is jumped to.
Result<UniqueFd> FastPath::loadJoined(const assemble::Profile& profile) {
    const auto hooks = assemble::customHooksOf(profile);
    auto constants = constantsOf(profile, flows_.sizes());
    constants[TNA_CONSTANT_MODULES_CHANGE] = anyOf(profile, &ModuleObject::mayChange);
    constants[TNA_CONSTANT_MODULES_ASK] = std::ranges::any_of(hooks, &assemble::DecisionHook::asksAlways) ||
                                          anyOf(profile, &ModuleObject::asks);
    auto joined = pipelineOf(profile, constants, {});
    if (!joined)
        return std::unexpected(joined.error());
    for (const auto& [hook, constant, next, asksAlways] : hooks) {
        const auto modules = modulesOf(profile.custom.at(hook));
        if (!modules)
            return std::unexpected(modules.error());
        const auto behind =
            joinChain(*modules, hook, finishTemplate_.instructions({}, constants), mapsForModules());
        auto longer = behind ? goOnAtMarks(*joined, hook, *behind) : std::nullopt;
        if (!longer)
            return fail("a custom module cannot become a part of the pipeline");
        *joined = std::move(*longer);
    }
    return pipelineTemplate_.load(*joined);
}

/// From the end to the beginning: each part is put behind the one before.
Result<void> FastPath::loadJumping(const assemble::Profile& profile, LoadedProfile& loaded) {
    const auto hooks = assemble::customHooksOf(profile);
    std::map<int, int> slots;
    for (const auto& behind : hooks) {
        auto modules =
            chain(profile.custom.at(behind.hook), behind.hook, bpf_program__fd(finish_->progs.finish));
        if (!modules)
            return std::unexpected(modules.error());
        auto slot = makeTailCallSlot(modules->head());
        if (!slot)
            return std::unexpected(slot.error());
        slots[pipeline_.map(behind.next)] = slot->get();
        loaded.behind.push_back({std::move(*slot), std::move(*modules)});
    }
    auto jumping = pipelineOf(profile, constantsOf(profile, flows_.sizes()), std::move(slots));
    if (!jumping)
        return std::unexpected(jumping.error());
    for (const auto& behind : hooks)
        callAtMarks(*jumping, behind.hook);
    auto program = pipelineTemplate_.load(*jumping);
    if (!program)
        return std::unexpected(program.error());
    loaded.pipeline = std::move(*program);
    return {};
}

Result<FastPath::LoadedProfile> FastPath::loadProfile(const assemble::Profile& profile) {
    LoadedProfile loaded;
    auto joined = apart_.contains(profile) ? fail("it was refused before") : loadJoined(profile);
    if (joined) {
        loaded.pipeline = std::move(*joined);
    } else if (assemble::customHooksOf(profile).empty()) {
        return std::unexpected(joined.error());
    } else {
        // Together they may be more than the kernel takes of one program: apart, each has a stack of its own.
        if (auto jumping = loadJumping(profile, loaded); !jumping)
            return std::unexpected(jumping.error());
        if (apart_.insert(profile).second)
            spdlog::info("custom modules are jumped to, at some nanoseconds a packet: {}",
                         joined.error().sentence());
    }
    auto before = chain(profile.custom.at(TNA_HOOK_INGRESS), TNA_HOOK_INGRESS, loaded.pipeline.get());
    if (!before)
        return std::unexpected(before.error());
    loaded.ingress = std::move(*before);
    return loaded;
}

Result<void> FastPath::placeAtEgress(model::IfIndex ifindex, const std::vector<std::string>& modules) {
    const auto slot = slots_.find(ifindex);
    const auto placed = egressPlaced_.find(ifindex);
    if (slot == slots_.end() || (placed == egressPlaced_.end() ? modules.empty() : placed->second == modules))
        return {};
    const ModuleChain* wanted = nullptr;
    if (!modules.empty()) {
        auto it = egressChains_.find(modules);
        if (it == egressChains_.end()) {
            auto made = chain(modules, TNA_HOOK_EGRESS, -1);
            if (!made)
                return std::unexpected(made.error());
            it = egressChains_.emplace(modules, std::move(*made)).first;
        }
        wanted = &it->second;
    }
    if (auto set = setEgress(slot->second, ifindex, wanted); !set)
        return set;
    egressPlaced_[ifindex] = modules;
    return {};
}

void FastPath::placeEgressModules(const assemble::Plan& plan, Applied& applied) {
    for (const auto& [ifindex, port] : plan.ports)
        if (auto placed = placeAtEgress(ifindex, port.egressModules); !placed) {
            removeSlot(ifindex); // nothing leaves without the modules that it is to pass
            applied.failures.emplace(ifindex, placed.error());
        }
    std::erase_if(egressChains_, [&](const auto& item) {
        return std::ranges::none_of(egressPlaced_,
                                    [&](const auto& placed) { return placed.second == item.first; });
    });
}

} // namespace tna::deploy
