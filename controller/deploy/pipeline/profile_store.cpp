// SPDX-License-Identifier: Apache-2.0
#include "deploy/pipeline/profile_store.hpp"

#include <algorithm>
#include <spdlog/spdlog.h>

namespace tna::deploy {

ProfileStore::ProfileStore(const PipelineObject& pipeline, const Constants& constants, FinishProgram finish,
                           FlowCache caches, CounterReader& counters)
    : pipeline_(pipeline), constants_(constants),
      template_(pipeline.program, pipeline.buffers, pipeline.moduleBtf.get()), finish_(std::move(finish)),
      caches_(std::move(caches)), counters_(counters),
      custom_({pipeline.egressPorts, pipeline.portSlots, pipeline.decision}, pipeline.hook) {}

void ProfileStore::setModules(ModulesById modules) {
    custom_.replace(std::move(modules));
    apart_.clear();
}

Constants ProfileStore::constantsOf(const assemble::Profile& profile,
                                    const assemble::CacheSizes& sizes) const {
    auto constants = constants_;
    for (const auto& [constant, value] : assemble::constantsOf(profile, sizes))
        constants[constant] = value;
    constants[TNA_CONSTANT_MODULES_CHANGE] = 1;
    constants[TNA_CONSTANT_MODULES_ASK] = 1;
    return constants;
}

Result<Instructions> ProfileStore::instructionsOf(const assemble::Profile& profile,
                                                  const Constants& constants,
                                                  std::map<int, int> replacedMaps) {
    auto replaced = caches_.replacements(profile, pipeline_);
    if (!replaced)
        return std::unexpected(replaced.error());
    replaced->merge(replacedMaps);
    if (auto followed = counters_.follow(caches_.counting()); !followed)
        return std::unexpected(followed.error());
    return template_.instructions(*replaced, constants);
}

Result<int> ProfileStore::program(const assemble::Profile& profile) {
    if (const auto it = loaded_.find(profile); it != loaded_.end())
        return it->second.head();
    auto loaded = load(profile);
    if (!loaded)
        return std::unexpected(loaded.error());
    return loaded_.emplace(profile, std::move(*loaded)).first->second.head();
}

void ProfileStore::dropUnused(const assemble::Plan& plan) {
    plans_++;
    for (const auto& [ifindex, port] : plan.ports)
        if (const auto it = port.profile ? loaded_.find(*port.profile) : loaded_.end(); it != loaded_.end())
            it->second.used = plans_;
    const auto unused = [&](const auto& item) { return item.second.used != plans_; };
    std::erase_if(loaded_, [&](const auto& item) { return unused(item) && !item.first.custom.empty(); });
    auto many = static_cast<std::size_t>(std::ranges::count_if(loaded_, unused));
    for (; many > mostUnused; many--)
        loaded_.erase(
            std::ranges::min_element(loaded_, {}, [](const auto& item) { return item.second.used; }));
}

Result<UniqueFd> ProfileStore::loadApart(const assemble::Profile& profile, FlowCache& caches,
                                         std::map<int, int> replacedMaps) const {
    auto replaced = caches.replacements(profile, pipeline_);
    if (!replaced)
        return std::unexpected(replaced.error());
    replaced->merge(replacedMaps);
    return template_.load(*replaced, constantsOf(profile, caches.sizes()));
}

/// The pipeline with the modules behind its decisions as one program, in which nothing is jumped to.
Result<UniqueFd> ProfileStore::loadJoined(const assemble::Profile& profile) {
    const auto hooks = assemble::customHooksOf(profile);
    auto constants = constantsOf(profile, caches_.sizes());
    constants[TNA_CONSTANT_MODULES_CHANGE] = custom_.any(profile, &ModuleObject::mayChange);
    constants[TNA_CONSTANT_MODULES_ASK] = std::ranges::any_of(hooks, &assemble::DecisionHook::asksAlways) ||
                                          custom_.any(profile, &ModuleObject::asks);
    auto joined = instructionsOf(profile, constants, {});
    if (!joined)
        return std::unexpected(joined.error());
    for (const auto& behind : hooks) {
        joined = custom_.join(*joined, profile.custom.at(behind.hook), behind.hook,
                              finish_.instructions(constants));
        if (!joined)
            return std::unexpected(joined.error());
    }
    return template_.load(*joined);
}

/// From the end to the beginning: each part is put behind the one before.
Result<void> ProfileStore::loadJumping(const assemble::Profile& profile, Loaded& loaded) {
    const auto hooks = assemble::customHooksOf(profile);
    std::map<int, int> slots;
    auto finish = finish_.program(constantsOf(profile, caches_.sizes()));
    if (!finish)
        return std::unexpected(finish.error());
    loaded.finish = std::move(*finish);
    for (const auto& behind : hooks) {
        auto modules = custom_.chain(profile.custom.at(behind.hook), behind.hook, loaded.finish.get());
        if (!modules)
            return std::unexpected(modules.error());
        auto slot = makeTailCallSlot(modules->head());
        if (!slot)
            return std::unexpected(slot.error());
        slots[pipeline_.map(behind.next)] = slot->get();
        loaded.behind.push_back({std::move(*slot), std::move(*modules)});
    }
    auto jumping = instructionsOf(profile, constantsOf(profile, caches_.sizes()), std::move(slots));
    if (!jumping)
        return std::unexpected(jumping.error());
    for (const auto& behind : hooks)
        callAtMarks(*jumping, behind.hook);
    auto program = template_.load(*jumping);
    if (!program)
        return std::unexpected(program.error());
    loaded.pipeline = std::move(*program);
    return {};
}

Result<ProfileStore::Loaded> ProfileStore::load(const assemble::Profile& profile) {
    Loaded loaded;
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
    auto before = custom_.chain(profile.custom.at(TNA_HOOK_INGRESS), TNA_HOOK_INGRESS, loaded.pipeline.get());
    if (!before)
        return std::unexpected(before.error());
    loaded.ingress = std::move(*before);
    return loaded;
}

} // namespace tna::deploy
