// SPDX-License-Identifier: Apache-2.0
#include "deploy/custom/module_chain.hpp"

#include <bpf/bpf.h>
#include <cerrno>
#include <ranges>

namespace tna::deploy {

Result<UniqueFd> makeTailCallSlot(int program) {
    UniqueFd slot{
        bpf_map_create(BPF_MAP_TYPE_PROG_ARRAY, "tna_next", sizeof(__u32), sizeof(__u32), 1, nullptr)};
    if (!slot)
        return failErrno(errno, "cannot create the slot behind a custom module");
    const __u32 zero = 0;
    if (program >= 0 && bpf_map_update_elem(slot.get(), &zero, &program, BPF_ANY) != 0)
        return failErrno(errno, "cannot put a program behind a custom module");
    return slot;
}

Result<ModuleChain> ModuleChain::load(std::span<const std::shared_ptr<const ModuleObject>> modules,
                                      tna_hook hook, assemble::Hook at, int last, const SharedMaps& maps) {
    ModuleChain chain;
    for (const auto& module : std::ranges::reverse_view(modules)) {
        auto next = makeTailCallSlot(last);
        if (!next)
            return std::unexpected(next.error());
        auto program = module->instance(hook, at, next->get(), maps);
        if (!program)
            return std::unexpected(program.error());
        last = program->get();
        chain.links_.push_back({std::move(*program), std::move(*next)});
    }
    return chain;
}

std::optional<Instructions> joinChain(std::span<const std::shared_ptr<const ModuleObject>> modules,
                                      tna_hook hook, assemble::Hook at, Instructions last,
                                      const SharedMaps& maps) {
    std::optional joined = std::move(last);
    for (const auto& module : std::ranges::reverse_view(modules)) {
        const auto before = module->instructions(hook, at, maps);
        joined = before ? goOnAtMarks(*before, hook, *joined) : std::nullopt;
        if (!joined)
            break;
    }
    return joined;
}

} // namespace tna::deploy
