// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/assemble.hpp"
#include "model/layers.hpp"

namespace tna::assemble {

/// What a decision rests on besides the port itself; the same for all ports of a plan.
struct Surroundings {
    const model::Network& network;
    const capability::Capabilities& capabilities;
    const Wishes& wishes;
    model::Layers layers;
    bool bridges = false;     ///< there are any
    bool bridgeVlans = false; ///< those that packets are routed to and from may filter VLANs, or have VLAN
                              ///< devices
    bool vlanStacks = false;  ///< packets are routed to and from VLAN devices on VLAN devices
    bool manyRoutes = false;  ///< of IPv4: what destinations are routed by is worth remembering
    std::set<model::IfIndex> atTcx;         ///< links whose frames are seen there
    std::set<model::IfIndex> alone;         ///< of those, what has no other port
    std::set<model::IfIndex> onlyFromTcx;   ///< ports that XDP sends nothing to
    std::set<model::IfIndex> routedBridges; ///< themselves, or their VLAN devices
    std::set<model::IfIndex>
        underRoutedVlans; ///< ports with VLAN devices that packets are routed to and from

    [[nodiscard]] bool watched() const { return capabilities.way == capability::Way::watched; }
    [[nodiscard]] bool tcx() const { return capabilities.tcx.available && !watched(); }
    /// Whether a port may have frames for another one, or back by another VLAN, that only tcx sends.
    [[nodiscard]] bool anotherOnlyFromTcx(model::IfIndex ifindex) const;
};

[[nodiscard]] Surroundings look(const model::Network& network, const capability::Capabilities& capabilities,
                                const Wishes& wishes);

/// Whether Linux routes packets to and from a link, of one protocol at least.
[[nodiscard]] bool routes(const model::Link& link);
/// The port or bridge by which a VLAN device's packets are routed, if there is one; null: they are left to
/// Linux.
[[nodiscard]] const model::Link* underRoutedVlan(const model::Network& network, const model::Link& link);
/// DSA: Linux receives as a port of the switch what comes in by this link, whatever it looks like.
[[nodiscard]] bool leadsToSwitch(const model::Layers& layers, const model::Link& link);

} // namespace tna::assemble
