// SPDX-License-Identifier: Apache-2.0
#include "deploy/known_ports.hpp"

namespace tna::deploy {

Result<void> KnownPorts::add(model::IfIndex ifindex, unsigned shortest) {
    if (slots_.slotOf(ifindex)) {
        if (slots_.alive(ifindex))
            return {};
        remove(ifindex);
    }
    const auto given = slots_.add(ifindex, shortest);
    if (!given)
        return std::unexpected(given.error());
    if (given->usedBefore)
        counters_.startOver(given->slot);
    return {};
}

void KnownPorts::remove(model::IfIndex ifindex) {
    fdb_.forget(ifindex); // before the slot can be another's
    slots_.remove(ifindex);
    egressModules_.forget(ifindex);
}

void KnownPorts::dropUnplanned(const assemble::Plan& plan) {
    for (const auto ifindex : slots_.unplanned(plan))
        remove(ifindex);
}

void KnownPorts::placeEgressModules(const assemble::Plan& plan, const CustomModuleSet& custom,
                                    Applied& applied) {
    for (auto& [ifindex, error] : egressModules_.place(plan, slots_, custom)) {
        remove(ifindex); // nothing leaves without the modules that it is to pass
        applied.failures.emplace(ifindex, error);
    }
    egressModules_.dropUnused();
}

std::map<model::IfIndex, PortCounters> KnownPorts::counters() {
    const auto bySlot = counters_.read(slots_.end());
    std::map<model::IfIndex, PortCounters> byPort;
    for (const auto& [ifindex, slot] : slots_.all())
        byPort.emplace(ifindex, bySlot[slot]);
    return byPort;
}

std::map<model::IfIndex, std::uint64_t> KnownPorts::leftToLinux() const {
    std::map<model::IfIndex, std::uint64_t> byPort;
    for (const auto& [ifindex, slot] : slots_.all())
        byPort.emplace(ifindex, counters_.leftToLinux(slot));
    return byPort;
}

} // namespace tna::deploy
