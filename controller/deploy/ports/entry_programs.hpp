// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "deploy/pipeline/profile_store.hpp"
#include "deploy/ports/port_attachment.hpp"

#include <map>
#include <memory>

namespace tna::deploy {

/// The programs that are attached, each of which jumps to a profile: one for the ports of each profile, and
/// one of their own for ports whose profile is to change fast.
class EntryPrograms {
public:
    [[nodiscard]] static Result<EntryPrograms> load(assemble::Hook hook, Buffers buffers);
    /// By which the kernel shows that a program is one of those at tcx; 0: there are none.
    [[nodiscard]] static std::uint64_t tagAtTcx();

    /// For ports of a profile, whose program that is.
    [[nodiscard]] Result<const Entry*> shared(const assemble::Profile& profile, int program);
    /// For one port.
    [[nodiscard]] Result<Entry> own(int program) const;
    /// Those of profiles that there are no more.
    void dropUnused(const ProfileStore& profiles);

private:
    using Skeleton = std::unique_ptr<void, void (*)(void*)>;
    EntryPrograms(Skeleton skeleton, ProgramTemplate copied, int slot)
        : skeleton_(std::move(skeleton)), template_(std::move(copied)), slot_(slot) {}
    template <typename Generated>
    [[nodiscard]] static Result<EntryPrograms> loadGenerated(Buffers buffers);

    Skeleton skeleton_;
    ProgramTemplate template_;
    int slot_; ///< in whose place copies have their own
    std::map<assemble::Profile, Entry> shared_;
};

} // namespace tna::deploy
