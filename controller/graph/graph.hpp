// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/network.hpp"

#include <map>
#include <string>
#include <vector>

namespace tna::graph {

struct Node {
    std::string id;    ///< "bridge:3"
    std::string kind;  ///< "link", "bridge", "bridge-port", "vlan", "fdb", "qdisc", "tc-filters", ...
    std::string label; ///< what people call it
    std::map<std::string, std::string> details;
    bool operator==(const Node&) const = default;
};

/// `from` needs `to` to do its work.
struct Edge {
    std::string from;
    std::string to;
    std::string why;
    bool operator==(const Edge&) const = default;
};

struct Graph {
    std::vector<Node> nodes;
    std::vector<Edge> edges;
    bool operator==(const Graph&) const = default;
};

[[nodiscard]] Graph build(const model::Network& network);

} // namespace tna::graph
