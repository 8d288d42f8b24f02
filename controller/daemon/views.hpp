// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"
#include "base/error.hpp"
#include "capability/capabilities.hpp"
#include "deploy/results/port_counters.hpp"
#include "graph/graph.hpp"
#include "model/network.hpp"

#include <nlohmann/json_fwd.hpp>
#include <optional>

namespace tna::daemon {

/// What the documents about ports are made of.
struct PortState {
    const model::Network& network;
    const assemble::Plan& plan;
    std::map<model::IfIndex, deploy::PortCounters> counters;
    const std::map<model::IfIndex, Error>& failures;
};

/// The documents of the API, see docs/api.md.
/// How stations are found: "in place", "kfunc", "mirror", "mirror, not complete", "not available".
[[nodiscard]] const char* fdbWay(const capability::Capabilities& capabilities);
/// "accelerated", "paused", "linux", or "failed".
[[nodiscard]] const char* stateOf(const assemble::PortPlan& port, bool failed);
[[nodiscard]] nlohmann::json viewPorts(const PortState& state);
[[nodiscard]] std::optional<nlohmann::json> viewPort(const PortState& state, const std::string& name);
[[nodiscard]] nlohmann::json viewGraph(const graph::Graph& graph, const assemble::Plan& plan);
[[nodiscard]] nlohmann::json viewCapabilities(const capability::Capabilities& capabilities,
                                              const model::Network& network);

} // namespace tna::daemon
