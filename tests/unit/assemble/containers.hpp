// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "world.hpp"

#include <gtest/gtest.h>

namespace tna::assemble {

/// The port of a container.
struct Container : World {
    Container() {
        port().kind = port().driver = "veth";
        capabilities.tcx = {true, "it is there"};
        wishes.atTcx = {portIndex};
    }
};

/// The ports of containers, and a card.
struct ContainersAndCard : Container {
    ContainersAndCard() {
        for (const model::IfIndex more : {8U, 9U}) {
            network.links[more] = port();
            network.links[more].ifindex = more;
        }
        wishes.atTcx.insert(8);
        card().kind.clear();
        card().driver = "ena";
        capabilities.devices[9] = {.native = true, .redirectTarget = true, .frags = false};
    }
    model::Link& card() { return network.links.at(9); }
    /// In the place of its part in the bridge.
    void routeByCard() {
        card().bridgePort.reset();
        card().master = 0;
        route(card());
    }
    /// VLAN devices that packets are routed to and from.
    void addVlans(model::IfIndex on, std::initializer_list<model::IfIndex> indexes) {
        network.links.at(on).flags = model::link_flag::up;
        for (const auto ifindex : indexes) {
            auto& vlan = network.links[ifindex];
            vlan.ifindex = ifindex;
            vlan.lower = on;
            vlan.kind = "vlan";
            vlan.vlan.emplace();
            route(vlan);
        }
    }
    static void route(model::Link& link) {
        link.flags = model::link_flag::up;
        link.ip.forwarding4 = true;
        link.addresses = {{4, "192.0.2.1/24", "global"}};
    }
    [[nodiscard]] Hook hookOfCard() const {
        const auto plan = assemble(network, capabilities, wishes).ports.at(9);
        EXPECT_EQ(plan.hookWhy.empty(), plan.hook == Hook::xdp && !plan.behind);
        return plan.hook;
    }
};

} // namespace tna::assemble
