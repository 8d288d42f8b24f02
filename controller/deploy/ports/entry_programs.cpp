// SPDX-License-Identifier: Apache-2.0
#include "deploy/ports/entry_programs.hpp"

#include "deploy/kernel/requirements.hpp"

#include <bit>
#include <bpf/bpf.h>

#include "entry.skel.h"
#include "entry_tcx.skel.h"

namespace tna::deploy {

template <typename Generated>
Result<EntryPrograms> EntryPrograms::loadGenerated(Buffers buffers) {
    auto* opened = Generated::open();
    Skeleton owner{opened, [](void* owned) { Generated::destroy(static_cast<Generated*>(owned)); }};
    const bool xdp = opened != nullptr && bpf_program__type(opened->progs.entry) == BPF_PROG_TYPE_XDP;
    if (opened == nullptr ||
        (xdp && bpf_program__set_flags(opened->progs.entry, programFlags(buffers)) != 0) ||
        Generated::load(opened) != 0)
        return std::unexpected(explainRefusal("cannot load the entry program", errno, thisMachine(), "5.15"));
    ProgramTemplate copied{opened->progs.entry, buffers};
    return EntryPrograms{std::move(owner), std::move(copied), bpf_map__fd(opened->maps.profile)};
}

Result<EntryPrograms> EntryPrograms::load(assemble::Hook hook, Buffers buffers) {
    return hook == assemble::Hook::xdp ? loadGenerated<::entry>(buffers)
                                       : loadGenerated<::entry_tcx>(buffers);
}

std::uint64_t EntryPrograms::tagAtTcx() {
    auto* opened = ::entry_tcx::open_and_load();
    const Skeleton owner{opened, [](void* owned) { ::entry_tcx::destroy(static_cast<::entry_tcx*>(owned)); }};
    bpf_prog_info info{};
    __u32 size = sizeof info;
    if (opened == nullptr || bpf_obj_get_info_by_fd(bpf_program__fd(opened->progs.entry), &info, &size) != 0)
        return 0;
    return std::bit_cast<std::uint64_t>(info.tag);
}

Result<Entry> EntryPrograms::own(int program) const {
    auto entry = Entry::load(template_, slot_);
    if (!entry)
        return entry;
    if (auto set = entry->setProfile(program); !set)
        return std::unexpected(set.error());
    return entry;
}

Result<const Entry*> EntryPrograms::shared(const assemble::Profile& profile, int program) {
    if (const auto it = shared_.find(profile); it != shared_.end())
        return &it->second;
    auto entry = own(program);
    if (!entry)
        return std::unexpected(entry.error());
    return &shared_.emplace(profile, std::move(*entry)).first->second;
}

void EntryPrograms::dropUnused(const ProfileStore& profiles) {
    std::erase_if(shared_, [&](const auto& item) { return !profiles.has(item.first); });
}

} // namespace tna::deploy
