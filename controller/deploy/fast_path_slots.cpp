// SPDX-License-Identifier: Apache-2.0
// The devices that frames may come in and leave by: each has a slot, which maps and cached flows name it by.
#include "deploy/fast_path.hpp"

#include <algorithm>
#include <bpf/bpf.h>
#include <cerrno>

namespace tna::deploy {

bool FastPath::slotFits(const assemble::PortPlan& port) const {
    const auto it = shortest_.find(port.ifindex);
    return it == shortest_.end() || it->second == shortestOut(port);
}

unsigned FastPath::shortestOut(const assemble::PortPlan& port) {
    return port.egress ? port.shortest : TNA_NO_EGRESS;
}

/// Of which frames no port has to be asked: all that are at least as long as what any of them takes.
void FastPath::askAboutShort() const {
    unsigned most = 0;
    for (const auto& [ifindex, shortest] : shortest_)
        if (shortest != TNA_NO_EGRESS)
            most = std::max(most, shortest);
    __atomic_store_n(&pipeline_.home->shortest, most, __ATOMIC_SEQ_CST);
}

Result<void> FastPath::addSlot(model::IfIndex ifindex, unsigned shortest) {
    if (slots_.contains(ifindex)) {
        if (slotAlive(ifindex))
            return {};
        removeSlot(ifindex);
    }
    if (nextSlot_ == limits_.maxPorts && freeSlots_.empty())
        return std::unexpected(Error{fmt::format("no room for another port: {} are in use", limits_.maxPorts),
                                     {},
                                     "raise max_ports under [limits] in the configuration"});
    const bool fresh = nextSlot_ < limits_.maxPorts;
    const unsigned slot = fresh ? nextSlot_++ : *freeSlots_.begin();
    if (!fresh)
        freeSlots_.erase(freeSlots_.begin());
    if (shortest != TNA_NO_EGRESS)
        if (auto made = setEgress(slot, ifindex, nullptr); !made) {
            freeSlots_.insert(slot);
            return made;
        }
    shortest_[ifindex] = shortest;
    askAboutShort(); // before frames can leave by it
    const __u32 device = ifindex;
    const tna_port_slot value{slot, shortest};
    if (bpf_map_update_elem(pipeline_.portSlots, &device, &value, BPF_ANY) != 0) {
        const int code = errno;
        bpf_map_delete_elem(pipeline_.egressPorts, &value.slot);
        freeSlots_.insert(slot);
        shortest_.erase(ifindex);
        return failErrno(code, "cannot enter the device with index {} in the port table", ifindex);
    }
    slots_[ifindex] = slot;
    if (!fresh)
        counterReader_.startOver(slot);
    return {};
}

/// The kernel empties a slot of the device map by itself when the device goes away. One that nothing leaves
/// by is not in that map.
bool FastPath::slotAlive(model::IfIndex ifindex) const {
    if (shortest_.at(ifindex) == TNA_NO_EGRESS)
        return true;
    const __u32 key = slots_.at(ifindex);
    bpf_devmap_val device{};
    return bpf_map_lookup_elem(pipeline_.egressPorts, &key, &device) == 0 && device.ifindex == ifindex;
}

void FastPath::forgetFlows() const {
    __atomic_add_fetch(&pipeline_.home->epoch, 1, __ATOMIC_SEQ_CST);
}

/// First the table, then the epoch, then the device: no cached flow can point to a slot's next owner.
void FastPath::removeSlot(model::IfIndex ifindex) {
    const __u32 device = ifindex;
    const __u32 slot = slots_.at(ifindex);
    fdb_->forget(ifindex);
    const bool forgotten = bpf_map_delete_elem(pipeline_.portSlots, &device) == 0 || errno == ENOENT;
    forgetFlows();
    bpf_map_delete_elem(pipeline_.egressPorts, &slot);
    if (forgotten) // else the device would be taken for the slot's next owner
        freeSlots_.insert(slot);
    slots_.erase(ifindex);
    shortest_.erase(ifindex);
    askAboutShort();
    egressPlaced_.erase(ifindex);
}

} // namespace tna::deploy
