// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/kernel/presence.hpp"
#include "deploy/programs/program_template.hpp"
#include "model/link.hpp"

#include <optional>

namespace tna::deploy {

/// An entry program and the slot of the profile it jumps to.
class Entry {
public:
    [[nodiscard]] static Result<Entry> load(const ProgramTemplate& entry, int templateMap);

    /// Makes `program` the profile; takes effect with the next frame. Replacing one takes 50 us; taking one
    /// out would make the kernel wait for a grace period (bpf_arch_poke_desc_update).
    [[nodiscard]] Result<void> setProfile(int program) const;
    [[nodiscard]] int program() const { return program_.get(); }

private:
    Entry(UniqueFd slot, UniqueFd program) : slot_(std::move(slot)), program_(std::move(program)) {}
    UniqueFd slot_;
    UniqueFd program_;
};

/// An entry program on one port: first one that ports of equal profiles share, later one of the port's own.
/// Detaches at destruction; the kernel does so by itself when the process dies.
///
/// The kernel calls the first 48 different XDP programs of a machine directly (bpf_dispatcher), and waits
/// for a grace period whenever that set changes, with the lock of all network configuration held. One
/// program for all makes attaching many ports fast; one of its own makes changing a port's profile fast.
class PortAttachment {
public:
    /// Attaches natively; never replaces a program that is there already. At tcx, others' stay before it.
    [[nodiscard]] static Result<PortAttachment> attach(assemble::Hook hook, const Entry& shared,
                                                       const model::Link& link, const Presences& presences);

    /// Puts the entry in the place of whatever an earlier process has left on a port; no frame is lost. An
    /// error also if that is on another device by now.
    [[nodiscard]] static Result<PortAttachment> adopt(UniqueFd link, const Entry& shared,
                                                      model::IfIndex ifindex, const Presences& presences);
    /// Leaves the port's frames to Linux by a program that stays for as long as somebody holds what is
    /// returned.
    [[nodiscard]] Result<UniqueFd> handOver(int passAll) &&;

    [[nodiscard]] bool hasOwnEntry() const { return own_.has_value(); }
    /// Puts an entry of its own in place of the shared one; no frame is lost.
    [[nodiscard]] Result<void> takeOwnEntry(Entry own);
    /// Null as long as the entry is shared.
    [[nodiscard]] const Entry* ownEntry() const { return own_ ? &*own_ : nullptr; }
    /// False once somebody has cut the link, or the device has gone. One that has moved to another namespace
    /// keeps it.
    [[nodiscard]] bool alive() const;

private:
    PortAttachment(UniqueFd link, Presence presence)
        : link_(std::move(link)), presence_(std::move(presence)) {}
    std::optional<Entry> own_;
    UniqueFd link_;
    Presence presence_;
};

} // namespace tna::deploy
