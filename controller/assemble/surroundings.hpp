// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/assemble.hpp"

namespace tna::assemble {

/// What a decision rests on besides the port itself; the same for all ports of a plan.
struct Surroundings {
    const model::Network& network;
    const capability::Capabilities& capabilities;
    const Wishes& wishes;
    bool bridges = false;     ///< there are any
    bool bridgeVlans = false; ///< those that packets are routed to and from may filter VLANs, or have VLAN
                              ///< devices
    bool vlanStacks = false;  ///< packets are routed to and from VLAN devices on VLAN devices
    bool manyRoutes = false;  ///< of IPv4: what destinations are routed by is worth remembering
    std::set<model::IfIndex> atTcx;         ///< links whose frames are seen there
    std::set<model::IfIndex> routedBridges; ///< themselves, or their VLAN devices
    std::set<model::IfIndex>
        underRoutedVlans; ///< ports with VLAN devices that packets are routed to and from

    [[nodiscard]] bool watched() const { return capabilities.way == capability::Way::watched; }
};

} // namespace tna::assemble
