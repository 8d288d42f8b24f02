// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "deploy/kernel/presence.hpp"
#include "deploy/pipeline/pipeline_object.hpp"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace tna::deploy {

/// The devices that frames may come in and leave by. Each has a slot, a small number by which the pipeline's
/// maps and cached flows name it.
class SlotTable {
public:
    /// The pipeline must outlive it.
    SlotTable(const PipelineObject& pipeline, unsigned capacity, Presences presences)
        : pipeline_(pipeline), capacity_(capacity), presences_(std::move(presences)) {}

    struct Given {
        unsigned slot = 0;
        bool usedBefore = false; ///< by another device
    };
    /// Gives a device a slot; frames may leave by it that are not shorter than `shortest` (TNA_NO_EGRESS:
    /// none may).
    [[nodiscard]] Result<Given> add(model::IfIndex ifindex, unsigned shortest);
    /// Takes the slot back, in an order in which no cached flow can point to its next owner.
    void remove(model::IfIndex ifindex);

    [[nodiscard]] std::optional<unsigned> slotOf(model::IfIndex ifindex) const;
    [[nodiscard]] const std::map<model::IfIndex, unsigned>& all() const { return slots_; }
    /// Of a device that has a slot: whether it has been there since.
    [[nodiscard]] bool alive(model::IfIndex ifindex) const { return presence_.at(ifindex).lasts(); }
    /// Whether one has gone; another one may have its index.
    [[nodiscard]] bool anyGone() const;
    /// The devices that have a slot and are to have none, or another one.
    [[nodiscard]] std::vector<model::IfIndex> unplanned(const assemble::Plan& plan) const;
    /// All slots in use are below.
    [[nodiscard]] unsigned end() const { return next_; }
    [[nodiscard]] unsigned capacity() const { return capacity_; }

    /// Makes a device what a slot stands for when frames leave; they pass `program` then, unless it is -1.
    [[nodiscard]] Result<void> setEgress(unsigned slot, model::IfIndex ifindex, int program = -1) const;

    /// Of frames that may leave by a port, in bytes.
    [[nodiscard]] static unsigned shortestOut(const assemble::PortPlan& port);

private:
    [[nodiscard]] Result<Given> freeSlot();
    void clearEgress(unsigned slot) const;
    [[nodiscard]] bool fits(const assemble::PortPlan& port) const;
    void askAboutShort() const;

    const PipelineObject& pipeline_;
    unsigned capacity_;
    Presences presences_;
    std::map<model::IfIndex, unsigned> slots_;
    std::map<model::IfIndex, unsigned> shortest_; ///< of frames that leave by them
    std::map<model::IfIndex, Presence> presence_;
    std::set<unsigned> free_; ///< given back; used again only when no fresh one is left
    bool inUse_ = false;      ///< frames may be on their way to what had one of these
    unsigned next_ = 0;
};

} // namespace tna::deploy
