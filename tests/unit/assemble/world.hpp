// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/assemble.hpp"
#include "assemble/modules/bridge.hpp"
#include "assemble/modules/route.hpp"

namespace tna::assemble {

inline constexpr model::IfIndex bridgeIndex = 1;
inline constexpr model::IfIndex portIndex = 2;
inline constexpr model::IfIndex aboveIndex = 3;

/// A world in which the port is accelerated; each test changes one thing.
struct World {
    model::Network network;
    capability::Capabilities capabilities;
    Wishes wishes;

    World() {
        model::Link bridge;
        bridge.ifindex = bridgeIndex;
        bridge.name = "br0";
        bridge.kind = "bridge";
        bridge.bridge.emplace();
        model::Link port;
        port.ifindex = portIndex;
        port.name = "eth0";
        port.driver = "ena";
        port.master = bridgeIndex;
        port.bridgePort.emplace();
        network.links = {{bridgeIndex, bridge}, {portIndex, port}};
        capabilities.fastPath.available = true;
        capabilities.inPlaceFdb.available = true;
        capabilities.devices[portIndex] = {.native = true, .redirectTarget = true, .frags = false};
    }
    model::Link& port() { return network.links.at(portIndex); }
    model::Link& bridge() { return network.links.at(bridgeIndex); }
    /// Another device, that lies on top of the port.
    model::Link& above() {
        auto& link = network.links[aboveIndex];
        link.ifindex = aboveIndex;
        link.lower = portIndex;
        return link;
    }
    [[nodiscard]] PortPlan plan() const {
        return assemble(network, capabilities, wishes).ports.at(portIndex);
    }
};

} // namespace tna::assemble
