// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "base/unique_fd.hpp"
#include "deploy/pipeline/profile_store.hpp"
#include "deploy/ports/entry_programs.hpp"
#include "deploy/ports/port_attachment.hpp"
#include "deploy/results/applied.hpp"
#include "deploy/results/attached_programs.hpp"
#include "model/network.hpp"

#include <map>
#include <optional>
#include <vector>

namespace tna::deploy {

/// What is attached to ports, and which profile is in place there. A port that is not accelerated at the
/// moment may stay attached with a program that leaves all to Linux, because attaching takes long.
class Attachments : public AttachedPrograms {
public:
    /// The profiles must outlive it.
    [[nodiscard]] static Result<Attachments> make(assemble::Hook hook, Buffers buffers, Presences presences,
                                                  ProfileStore& profiles);

    /// Takes away what a plan does not want, before anything is put in place.
    void dropUnplanned(const assemble::Plan& plan, Applied& applied);
    /// Puts a port's profile in place, attaching first if need be.
    [[nodiscard]] Result<void> place(const assemble::PortPlan& port, const model::Link& link,
                                     Applied& applied);
    /// Leaves a port to Linux by detaching.
    void remove(model::IfIndex ifindex);
    /// What was inherited and not taken up is detached, and entries of profiles that are no more go.
    void dropUnused();

    [[nodiscard]] bool has(model::IfIndex ifindex) const;
    /// Null: none is in place, though a program may be attached.
    [[nodiscard]] const assemble::Profile* profileOn(model::IfIndex ifindex) const;
    /// Whether somebody else has detached something of ours, or its device is gone.
    [[nodiscard]] bool anyCut() const;

    [[nodiscard]] std::vector<UniqueFd> handOver() override;
    void inherit(std::vector<UniqueFd> links) override;
    [[nodiscard]] bool settled() const override;
    void settleNext() override;

private:
    Attachments(assemble::Hook hook, Presences presences, EntryPrograms entries, UniqueFd passAll,
                ProfileStore& profiles)
        : hook_(hook), presences_(std::move(presences)), profiles_(profiles), entries_(std::move(entries)),
          passAll_(std::move(passAll)) {}
    [[nodiscard]] Result<PortAttachment*> attach(const assemble::PortPlan& port, const model::Link& link,
                                                 Applied& applied);
    [[nodiscard]] std::optional<PortAttachment> adopt(model::IfIndex ifindex, const Entry& entry);
    [[nodiscard]] Result<void> setProgram(PortAttachment& attachment, int program);
    [[nodiscard]] Result<void> takeOwnEntry(PortAttachment& attachment, int program);
    [[nodiscard]] bool emptied(PortAttachment& attachment, Applied& applied);

    assemble::Hook hook_;
    Presences presences_;
    ProfileStore& profiles_;
    EntryPrograms entries_;
    UniqueFd passAll_; ///< the profile of ports that are left to Linux, but stay attached
    std::map<model::IfIndex, assemble::Profile> placed_;
    /// Links, before they have become attachments. Of several with an index, all but one went elsewhere.
    std::multimap<model::IfIndex, UniqueFd> inherited_;
    bool cannotSettle_ = false; ///< changing profiles stays slow
    std::map<model::IfIndex, PortAttachment> attachments_;
};

} // namespace tna::deploy
