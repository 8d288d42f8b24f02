// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::graph {
namespace {

TEST(Graph, BridgePortDependsOnItsDeviceAndItsBridge) {
    model::Network network;
    network.links[1] = {.ifindex = 1, .name = "br0", .kind = "bridge"};
    network.links[1].bridge.emplace();
    network.links[2] = {.ifindex = 2, .name = "eth0", .master = 1};
    network.links[2].bridgePort.emplace();
    const auto graph = build(network);
    EXPECT_THAT(graph.edges, ::testing::IsSupersetOf({Edge{"port:2", "link:2", "receives and sends by it"},
                                                      Edge{"port:2", "bridge:1", "belongs to it"},
                                                      Edge{"bridge:1", "fdb:1", "finds stations in it"}}));
}

TEST(Graph, EveryEdgeConnectsNodesThatExist) {
    model::Network network;
    network.links[1] = {.ifindex = 1, .name = "eth0"};
    network.links[2] = {.ifindex = 2, .name = "eth0.5", .kind = "vlan", .lower = 1};
    network.links[2].vlan = model::VlanDevice{0x8100, 5};
    network.qdiscs = {{1, 0x10000, 0xffffffff, "tbf"}, {7, 0x10000, 0xffffffff, "tbf"}};
    const auto graph = build(network);
    EXPECT_EQ(graph.edges.size(), 2U);
    for (const auto& edge : graph.edges)
        for (const auto& id : {edge.from, edge.to})
            EXPECT_TRUE(std::ranges::any_of(graph.nodes, [&](const Node& node) { return node.id == id; }))
                << id;
}

TEST(Graph, VlanDeviceOfAnotherNamespaceHasNoEdge) {
    model::Network network;
    network.links[2] = {.ifindex = 2, .name = "v", .kind = "vlan", .lower = 1};
    network.links[2].vlan.emplace();
    EXPECT_TRUE(build(network).edges.empty());
}

} // namespace
} // namespace tna::graph
