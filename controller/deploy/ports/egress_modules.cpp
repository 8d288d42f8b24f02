// SPDX-License-Identifier: Apache-2.0
#include "deploy/ports/egress_modules.hpp"

#include <algorithm>

namespace tna::deploy {

/// -1 where there are none.
Result<int> EgressModules::headOf(const Identities& modules, const CustomModuleSet& custom) {
    if (modules.empty())
        return -1;
    if (const auto it = chains_.find(modules); it != chains_.end())
        return it->second.head();
    auto made = custom.chain(modules, TNA_HOOK_EGRESS, -1);
    if (!made)
        return std::unexpected(made.error());
    return chains_.emplace(modules, std::move(*made)).first->second.head();
}

Result<void> EgressModules::placeAt(model::IfIndex ifindex, unsigned slot, const Identities& modules,
                                    const SlotTable& slots, const CustomModuleSet& custom) {
    const auto placed = placed_.find(ifindex);
    if (placed == placed_.end() ? modules.empty() : placed->second == modules)
        return {};
    const auto head = headOf(modules, custom);
    if (!head)
        return std::unexpected(head.error());
    if (auto set = slots.setEgress(slot, ifindex, *head); !set)
        return set;
    placed_[ifindex] = modules;
    return {};
}

std::map<model::IfIndex, Error> EgressModules::place(const assemble::Plan& plan, const SlotTable& slots,
                                                     const CustomModuleSet& custom) {
    std::map<model::IfIndex, Error> failures;
    for (const auto& [ifindex, port] : plan.ports)
        if (const auto slot = slots.slotOf(ifindex))
            if (auto placed = placeAt(ifindex, *slot, port.egressModules, slots, custom); !placed)
                failures.emplace(ifindex, placed.error());
    return failures;
}

void EgressModules::dropUnused() {
    std::erase_if(chains_, [&](const auto& item) {
        return std::ranges::none_of(placed_, [&](const auto& placed) { return placed.second == item.first; });
    });
}

} // namespace tna::deploy
