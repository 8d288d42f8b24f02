// SPDX-License-Identifier: Apache-2.0
#include "deploy/ports/slot_table.hpp"

#include "deploy/kernel/grace_period.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <cerrno>
#include <tna/fastpath.h>

namespace tna::deploy {

bool SlotTable::fits(const assemble::PortPlan& port) const {
    const auto it = shortest_.find(port.ifindex);
    return it == shortest_.end() || it->second == shortestOut(port);
}

unsigned SlotTable::shortestOut(const assemble::PortPlan& port) {
    return port.egress ? port.shortest : TNA_NO_EGRESS;
}

std::optional<unsigned> SlotTable::slotOf(model::IfIndex ifindex) const {
    const auto it = slots_.find(ifindex);
    return it == slots_.end() ? std::nullopt : std::optional{it->second};
}

std::vector<model::IfIndex> SlotTable::unplanned(const assemble::Plan& plan) const {
    std::vector<model::IfIndex> gone;
    for (const auto& [ifindex, slot] : slots_)
        if (const auto it = plan.ports.find(ifindex);
            it == plan.ports.end() || (!it->second.egress && !it->second.profile) || !fits(it->second))
            gone.push_back(ifindex);
    return gone;
}

/// Of which frames no port has to be asked: all that are at least as long as what any of them takes.
void SlotTable::askAboutShort() const {
    unsigned most = 0;
    for (const auto& [ifindex, shortest] : shortest_)
        if (shortest != TNA_NO_EGRESS)
            most = std::max(most, shortest);
    __atomic_store_n(&pipeline_.home->shortest, most, __ATOMIC_SEQ_CST);
}

Result<void> SlotTable::setEgress(unsigned slot, model::IfIndex ifindex, int program) const {
    const __u32 key = slot;
    bpf_devmap_val device{};
    device.ifindex = ifindex;
    device.bpf_prog.fd = program;
    if (bpf_map_update_elem(pipeline_.egressPorts, &key, &device, BPF_ANY) != 0)
        return failErrno(errno, "cannot make the device with index {} an egress port", ifindex);
    return {};
}

/// From an array nothing can be deleted: there, no device has the index 0.
void SlotTable::clearEgress(unsigned slot) const {
    const __u32 key = slot;
    const bpf_devmap_val none{};
    if (pipeline_.hook == assemble::Hook::xdp)
        bpf_map_delete_elem(pipeline_.egressPorts, &key);
    else
        bpf_map_update_elem(pipeline_.egressPorts, &key, &none, BPF_ANY);
}

Result<SlotTable::Given> SlotTable::freeSlot() {
    if (next_ < capacity_)
        return Given{next_++, false};
    if (free_.empty())
        return std::unexpected(Error{fmt::format("no room for another port: {} are in use", capacity_),
                                     {},
                                     "raise max_ports under [limits] in the configuration"});
    if (inUse_)
        if (auto passed = letFramesPass(); !passed)
            return std::unexpected(passed.error());
    inUse_ = false;
    return Given{free_.extract(free_.begin()).value(), true};
}

Result<SlotTable::Given> SlotTable::add(model::IfIndex ifindex, unsigned shortest) {
    const auto given = freeSlot();
    if (!given)
        return given;
    const auto slot = given->slot;
    auto presence = presences_.of(ifindex);
    if (!presence) {
        free_.insert(slot);
        return std::unexpected(presence.error());
    }
    if (shortest != TNA_NO_EGRESS)
        if (auto made = setEgress(slot, ifindex); !made) {
            free_.insert(slot);
            return std::unexpected(made.error());
        }
    shortest_[ifindex] = shortest;
    askAboutShort(); // before frames can leave by it
    const __u32 device = ifindex;
    const tna_port_slot value{slot, shortest};
    if (bpf_map_update_elem(pipeline_.portSlots, &device, &value, BPF_ANY) != 0) {
        const int code = errno;
        clearEgress(slot);
        free_.insert(slot);
        shortest_.erase(ifindex);
        return failErrno(code, "cannot enter the device with index {} in the port table", ifindex);
    }
    slots_[ifindex] = slot;
    presence_[ifindex] = std::move(*presence);
    return *given;
}

bool SlotTable::anyGone() const {
    return std::ranges::any_of(presence_, [](const auto& item) { return !item.second.lasts(); });
}

/// First the table, then the epoch, then the device.
void SlotTable::remove(model::IfIndex ifindex) {
    const __u32 device = ifindex;
    const __u32 slot = slots_.at(ifindex);
    const bool forgotten = bpf_map_delete_elem(pipeline_.portSlots, &device) == 0 || errno == ENOENT;
    pipeline_.forgetFlows();
    clearEgress(slot);
    if (forgotten) // else the device would be taken for the slot's next owner
        free_.insert(slot);
    inUse_ = true;
    slots_.erase(ifindex);
    shortest_.erase(ifindex);
    presence_.erase(ifindex);
    askAboutShort();
}

} // namespace tna::deploy
