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
    [[nodiscard]] Hook hookOfCard() const {
        const auto plan = assemble(network, capabilities, wishes).ports.at(9);
        EXPECT_EQ(plan.hookWhy.empty(), plan.hook == Hook::xdp && !plan.behind);
        return plan.hook;
    }
};

} // namespace tna::assemble
