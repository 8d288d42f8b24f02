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
    network.qdiscs = {{1, 0x10000, 0xffffffff, "tbf", {}}, {7, 0x10000, 0xffffffff, "tbf", {}}};
    const auto graph = build(network);
    EXPECT_EQ(graph.edges.size(), 2U);
    for (const auto& edge : graph.edges)
        for (const auto& id : {edge.from, edge.to})
            EXPECT_TRUE(std::ranges::any_of(graph.nodes, [&](const Node& node) { return node.id == id; }))
                << id;
}

model::Network bridgeWithPort() {
    model::Network network;
    network.links[1] = {.ifindex = 1, .name = "br0", .kind = "bridge"};
    network.links[1].bridge.emplace();
    network.links[2] = {.ifindex = 2, .name = "eth0", .master = 1};
    network.links[2].bridgePort.emplace();
    return network;
}

std::vector<Edge> edgesTo(const Graph& graph, const std::string& id) {
    std::vector<Edge> found;
    std::ranges::copy_if(graph.edges, std::back_inserter(found),
                         [&](const Edge& edge) { return edge.to == id; });
    return found;
}

TEST(Graph, FiltersBelongToTheDeviceAndItsDirection) {
    auto network = bridgeWithPort();
    network.links[2].egressFilters = 3;
    const auto graph = build(network);
    EXPECT_THAT(edgesTo(graph, "tc:2:egress"),
                ::testing::ElementsAre(Edge{"link:2", "tc:2:egress", "its leaving frames pass them"}));
    EXPECT_TRUE(edgesTo(graph, "tc:2:ingress").empty());
    EXPECT_THAT(graph.nodes,
                ::testing::Contains(Node{"tc:2:egress", "tc-filters", "egress", {{"count", "3"}}}));
}

TEST(Graph, QdiscThatOnlyKeepsFiltersSendsNothing) {
    auto network = bridgeWithPort();
    network.qdiscs = {{2, 0x10000, 0xffffffff, "tbf", {}}, {2, 0xffff0000, 0xfffffff1, "clsact", {}}};
    std::vector<std::string> whys;
    for (const auto& edge : build(network).edges)
        if (edge.to.starts_with("qdisc:"))
            whys.push_back(edge.why);
    EXPECT_THAT(whys, ::testing::ElementsAre("sends through it", "keeps filters there"));
}

TEST(Graph, NetfilterHooksBelongToWhoseFramesPassThem) {
    auto network = bridgeWithPort();
    network.netfilter.hooks = {{"bridge", "t", "f", "forward", ""},
                               {"netdev", "t", "i", "ingress", "eth0"},
                               {"netdev", "t", "i", "ingress", "eth7"},
                               {"inet", "t", "p", "prerouting", ""}};
    const auto graph = build(network);
    EXPECT_THAT(
        edgesTo(graph, "netfilter:bridge:t:f"),
        ::testing::ElementsAre(Edge{"bridge:1", "netfilter:bridge:t:f", "its frames pass the chain"}));
    EXPECT_THAT(edgesTo(graph, "netfilter:netdev:t:i"),
                ::testing::ElementsAre(Edge{"link:2", "netfilter:netdev:t:i", "its frames pass the chain"}));
    EXPECT_TRUE(edgesTo(graph, "netfilter:inet:t:p").empty());
    EXPECT_EQ(std::ranges::count(graph.nodes, "netfilter-hook", &Node::kind), 3);
}

struct BrNetfilterRow {
    const char* family;
    const char* sysctl;
    bool model::BridgeOptions::* option;
};

TEST(Graph, BridgedFramesPassIpHooksWhereBrNetfilterCallsThem) {
    for (const auto& row :
         {BrNetfilterRow{"ip", "net.bridge.bridge-nf-call-iptables", &model::BridgeOptions::nfCallIptables},
          BrNetfilterRow{"ip6", "net.bridge.bridge-nf-call-ip6tables",
                         &model::BridgeOptions::nfCallIp6tables},
          BrNetfilterRow{"arp", "net.bridge.bridge-nf-call-arptables",
                         &model::BridgeOptions::nfCallArptables}}) {
        auto network = bridgeWithPort();
        network.netfilter.hooks = {{row.family, "t", "c", "forward", ""}};
        const auto id = "netfilter:" + std::string(row.family) + ":t:c";
        network.sysctls[row.sysctl] = "0";
        EXPECT_TRUE(edgesTo(build(network), id).empty()) << row.family;
        network.sysctls[row.sysctl] = "1";
        EXPECT_EQ(edgesTo(build(network), id).size(), 1U) << row.family;
        network.sysctls.clear();
        (*network.links[1].bridge).*row.option = true;
        EXPECT_EQ(edgesTo(build(network), id).size(), 1U) << row.family;
    }
}

TEST(Graph, TablesOfIptablesLegacyAreShown) {
    model::Network network;
    network.netfilter.legacyTables = {"ip filter"};
    EXPECT_THAT(build(network).nodes,
                ::testing::ElementsAre(
                    Node{"netfilter:legacy:ip filter", "netfilter-table", "ip filter (legacy)", {}}));
}

TEST(Graph, VlanDeviceOfAnotherNamespaceHasNoEdge) {
    model::Network network;
    network.links[2] = {.ifindex = 2, .name = "v", .kind = "vlan", .lower = 1};
    network.links[2].vlan.emplace();
    EXPECT_TRUE(build(network).edges.empty());
}

} // namespace
} // namespace tna::graph
