// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "deploy/custom/custom_modules.hpp"
#include "deploy/ports/slot_table.hpp"

#include <map>
#include <string>
#include <vector>

namespace tna::deploy {

/// The custom modules that frames pass as they leave by a port. Ports with equal lists share one chain.
class EgressModules {
public:
    /// Gives each port of a plan that has a slot its modules. What is returned could not be done: by these
    /// nothing may leave, for it would leave without the modules that it is to pass.
    [[nodiscard]] std::map<model::IfIndex, Error> place(const assemble::Plan& plan, const SlotTable& slots,
                                                        const CustomModuleSet& custom);
    /// The port has no slot any more.
    void forget(model::IfIndex ifindex) { placed_.erase(ifindex); }
    void dropUnused();

private:
    using Identities = std::vector<std::string>;
    [[nodiscard]] Result<int> headOf(const Identities& modules, const CustomModuleSet& custom);
    [[nodiscard]] Result<void> placeAt(model::IfIndex ifindex, unsigned slot, const Identities& modules,
                                       const SlotTable& slots, const CustomModuleSet& custom);

    std::map<Identities, ModuleChain> chains_;
    std::map<model::IfIndex, Identities> placed_;
};

} // namespace tna::deploy
