// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/network.hpp"

namespace tna::model {

/// Which links lie on which, and whose members they are. Of a network that outlives this: with thousands of
/// links, nobody wants to go through all of them for each.
class Layers {
public:
    explicit Layers(const Network& network);
    /// Links stacked on this one with IFLA_LINK (VLAN devices, macvlans) in this namespace.
    [[nodiscard]] const std::vector<const Link*>& on(IfIndex ifindex) const;
    /// One that receives and sends for this one, which is no bridge; null: there is none.
    [[nodiscard]] const Link* memberOf(IfIndex ifindex) const;

private:
    std::map<IfIndex, std::vector<const Link*>> on_;
    std::map<IfIndex, const Link*> members_;
};

} // namespace tna::model
