// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/fdb/fdb_access.hpp"
#include "deploy/pipeline/counters.hpp"
#include "deploy/ports/egress_modules.hpp"
#include "deploy/ports/slot_table.hpp"

namespace tna::deploy {

/// The ports that a pipeline knows, as ingress or egress: their slots, and what is kept by slot, which
/// another port with the same slot must not find. Whether a program is attached there is another question
/// (Attachments).
class KnownPorts {
public:
    /// What is passed by reference must outlive it.
    KnownPorts(const PipelineObject& pipeline, unsigned capacity, Presences presences,
               CounterReader& counters, FdbAccess& fdb)
        : counters_(counters), fdb_(fdb), slots_(pipeline, capacity, std::move(presences)) {}

    /// Makes a device known as ingress of the fast path, and as egress of frames that are not shorter than
    /// that (TNA_NO_EGRESS: of none).
    [[nodiscard]] Result<void> add(model::IfIndex ifindex, unsigned shortest = 0);
    void remove(model::IfIndex ifindex);
    void dropUnplanned(const assemble::Plan& plan);
    /// Frames that leave pass the modules that the plan says. A port where that cannot be is known no more.
    void placeEgressModules(const assemble::Plan& plan, const CustomModuleSet& custom, Applied& applied);

    [[nodiscard]] std::map<model::IfIndex, PortCounters> counters();
    [[nodiscard]] std::map<model::IfIndex, std::uint64_t> leftToLinux() const;
    [[nodiscard]] const SlotTable& slots() const { return slots_; }

private:
    CounterReader& counters_;
    FdbAccess& fdb_;
    SlotTable slots_;
    EgressModules egressModules_;
};

} // namespace tna::deploy
