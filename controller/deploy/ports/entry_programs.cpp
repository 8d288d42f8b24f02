// SPDX-License-Identifier: Apache-2.0
#include "deploy/ports/entry_programs.hpp"

#include "deploy/kernel/requirements.hpp"

#include <bpf/bpf.h>

#include "entry.skel.h"

namespace tna::deploy {

Result<EntryPrograms> EntryPrograms::load(Buffers buffers) {
    Skeleton opened{entry__open(), entry__destroy};
    if (!opened || bpf_program__set_flags(opened->progs.entry, programFlags(buffers)) != 0 ||
        entry__load(opened.get()) != 0)
        return std::unexpected(explainRefusal("cannot load the entry program", errno, thisMachine(), "5.15"));
    ProgramTemplate copied{opened->progs.entry, buffers};
    return EntryPrograms{std::move(opened), std::move(copied)};
}

Result<Entry> EntryPrograms::own(int program) const {
    auto entry = Entry::load(template_, bpf_map__fd(skeleton_->maps.profile));
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
