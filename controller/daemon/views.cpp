// SPDX-License-Identifier: Apache-2.0
#include "daemon/views.hpp"

#include "assemble/devices.hpp"
#include "assemble/hooks.hpp"
#include "assemble/manifest.hpp"
#include "capability/xdp_features.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tna::daemon {

namespace {
using nlohmann::json;

bool pausedOnly(const assemble::PortPlan& port) {
    return port.reasons.size() == 1 && port.reasons.front().code == "paused";
}

json slowReasons(const deploy::PortCounters& counters) {
    json reasons = json::object();
    for (unsigned reason = 0; reason < TNA_REASON_COUNT; reason++)
        if (counters.slow[reason] != 0)
            reasons[deploy::reasonCode(reason)] = counters.slow[reason];
    return reasons;
}

json portDocument(const PortState& state, const assemble::PortPlan& port) {
    const auto* link = state.network.link(port.ifindex);
    const auto* bridge = link != nullptr && !port.routed ? state.network.link(link->master) : nullptr;
    const auto failure = state.failures.find(port.ifindex);
    const bool failed = failure != state.failures.end();
    const auto it = state.counters.find(port.ifindex);
    const auto counted = it == state.counters.end() ? deploy::PortCounters{} : it->second;
    const bool accelerated = port.accelerated() && !failed;
    json why;
    if (failed)
        why = failure->second.sentence();
    else if (!port.reasons.empty())
        why = port.reasons.front().text;
    return {{"name", port.name},
            {"ifindex", port.ifindex},
            {"kind", link != nullptr ? link->kind : ""},
            {"driver", link != nullptr ? link->driver : ""},
            {"bridge", bridge != nullptr ? json(bridge->name) : json()},
            {"state", stateOf(port, failed)},
            {"hook", accelerated ? json(assemble::nameOfHooks(port)) : json()},
            {"hook_why", accelerated && !port.hookWhy.empty() ? json(port.hookWhy) : json()},
            {"profile", accelerated ? json(port.profile->name()) : json()},
            {"modules", accelerated ? json(port.profile->moduleNames()) : json::array()},
            {"egress", port.egress},
            {"why", why},
            {"fast_packets", counted.inPackets},
            {"fast_bytes", counted.inBytes},
            {"fast_out_packets", counted.outPackets},
            {"fast_out_bytes", counted.outBytes},
            {"slow_packets", counted.slowPackets()},
            {"slow_reasons", slowReasons(counted)}};
}

json reasonDocument(const assemble::Reason& reason) {
    return {{"code", reason.code}, {"text", reason.text}, {"hint", reason.hint}};
}

const char* nameOf(assemble::Receive receive) {
    switch (receive) {
    case assemble::Receive::finished:
        return "finished";
    case assemble::Receive::seen:
        return "seen";
    case assemble::Receive::undone:
        return "undone";
    case assemble::Receive::never:
        return "never";
    }
    return "never";
}

const char* nameOf(assemble::Send send) {
    switch (send) {
    case assemble::Send::same:
        return "same";
    case assemble::Send::skips:
        return "skips";
    case assemble::Send::never:
        return "never";
    }
    return "never";
}

/// What is known of the device's kind or driver; null: nothing.
json knowledgeOf(const model::Link& link) {
    const auto* known = assemble::knownDevice(link);
    if (known == nullptr)
        return {};
    return {{"receive", nameOf(known->receive)},
            {"received", known->received},
            {"send", nameOf(known->send)},
            {"sent", known->sent},
            {"shortest", known->shortest},
            {"by", known->evidence == assemble::Evidence::tested ? "tests" : "reading"}};
}

json slowPath(const deploy::PortCounters& counters) {
    json list = json::array();
    for (unsigned reason = 0; reason < TNA_REASON_COUNT; reason++)
        if (counters.slow[reason] != 0)
            list.push_back({{"code", deploy::reasonCode(reason)},
                            {"text", deploy::reasonText(reason)},
                            {"packets", counters.slow[reason]}});
    return list;
}

constexpr const char* notNeeded = "not needed: the FDB is read in place";
constexpr const char* asked = "the bridge itself answers for each frame: the FDB, port states and settings, "
                              "VLANs; its options are announced";
} // namespace

const char* stateOf(const assemble::PortPlan& port, bool failed) {
    if (failed)
        return "failed";
    if (port.accelerated())
        return "accelerated";
    return pausedOnly(port) ? "paused" : "linux";
}

const char* fdbWay(const capability::Capabilities& capabilities) {
    if (capabilities.way == capability::Way::watched && capabilities.kfunc.available)
        return "kfunc";
    if (capabilities.way == capability::Way::watched)
        return capabilities.mirror.available ? "mirror" : "mirror, not complete";
    return capabilities.inPlaceFdb.available ? "in place" : "not available";
}

json viewPorts(const PortState& state) {
    json list = json::array();
    for (const auto& [ifindex, port] : state.plan.ports)
        list.push_back(portDocument(state, port));
    return list;
}

std::optional<json> viewPort(const PortState& state, const std::string& name) {
    const auto it =
        std::ranges::find_if(state.plan.ports, [&](const auto& item) { return item.second.name == name; });
    if (it == state.plan.ports.end())
        return std::nullopt;
    const auto& port = it->second;
    json reasons = json::array();
    if (const auto failure = state.failures.find(port.ifindex); failure != state.failures.end())
        reasons.push_back({{"code", "failed"},
                           {"text", failure->second.what + ": " + failure->second.cause},
                           {"hint", failure->second.hint}});
    for (const auto& reason : port.reasons)
        reasons.push_back(reasonDocument(reason));
    json features = json::array();
    features.push_back({{"feature", port.routed ? "route" : "bridge"},
                        {"accelerated", port.accelerated() && reasons.empty()},
                        {"reasons", reasons}});
    if (port.egressReason && std::ranges::find(port.reasons, *port.egressReason) == port.reasons.end())
        features.push_back({{"feature", "egress"},
                            {"accelerated", false},
                            {"reasons", json::array({reasonDocument(*port.egressReason)})}});
    const auto counted = state.counters.find(port.ifindex);
    return json{{"port", portDocument(state, port)},
                {"features", features},
                {"slow_path", counted == state.counters.end() ? json::array() : slowPath(counted->second)}};
}

/// Which links are routed ports is the plan's to say; the graph has the routes.
static void addRoutedPort(json& document, const assemble::PortPlan& port) {
    const auto number = std::to_string(port.ifindex);
    const auto id = "port:" + number;
    document["nodes"].push_back(
        {{"id", id}, {"kind", "routed-port"}, {"label", port.name}, {"details", json::object()}});
    document["edges"].push_back(
        {{"from", id}, {"to", "link:" + number}, {"why", "receives and sends by it"}});
    for (const auto& node : document["nodes"])
        if (node["kind"] == "route-table" && node["id"].get<std::string>().starts_with("routes:4:"))
            document["edges"].push_back({{"from", id}, {"to", node["id"]}, {"why", "routes by it"}});
}

json viewGraph(const graph::Graph& graph, const assemble::Plan& plan) {
    json document{{"nodes", json::array()}, {"edges", json::array()}};
    for (const auto& node : graph.nodes)
        document["nodes"].push_back(
            {{"id", node.id}, {"kind", node.kind}, {"label", node.label}, {"details", node.details}});
    for (const auto& edge : graph.edges)
        document["edges"].push_back({{"from", edge.from}, {"to", edge.to}, {"why", edge.why}});
    for (const auto& [ifindex, port] : plan.ports) {
        if (port.routed)
            addRoutedPort(document, port);
        if (!port.accelerated())
            continue;
        const auto id = "profile:" + port.profile->name();
        const auto known =
            std::ranges::any_of(document["nodes"], [&](const json& node) { return node["id"] == id; });
        if (!known)
            document["nodes"].push_back({{"id", id},
                                         {"kind", "profile"},
                                         {"label", port.profile->name()},
                                         {"details", json::object()}});
        document["edges"].push_back(
            {{"from", "port:" + std::to_string(ifindex)}, {"to", id}, {"why", "is accelerated by it"}});
    }
    return document;
}

json viewCapabilities(const capability::Capabilities& capabilities, const model::Network& network) {
    json guards = json::array();
    const bool watched = capabilities.way == capability::Way::watched;
    for (const auto& guard : assemble::guardWords()) {
        const bool answered =
            watched && capabilities.kfunc.available && guard.name == std::string_view("bridge");
        guards.push_back({{"name", guard.name},
                          {"mode", watched && !answered ? "watched" : "live"},
                          {"detail", answered  ? asked
                                     : watched ? guard.watched
                                               : guard.detail}});
    }
    json devices = json::array();
    for (const auto& [ifindex, features] : capabilities.devices) {
        const auto* link = network.link(ifindex);
        if (link == nullptr || (link->flags & model::link_flag::loopback) != 0)
            continue;
        devices.push_back(
            {{"name", link->name},
             {"driver", link->driver},
             {"native_xdp", features.native},
             {"redirect_target", features.redirectTarget},
             {"frags", features.frags},
             {"known", knowledgeOf(*link)},
             {"mtu", link->mtu},
             {"max_mtu_with_xdp",
              features.native ? json(capability::maxMtuWithXdp(features, link->maxMtu)) : json()}});
    }
    return {
        {"kernel", {{"release", capabilities.kernelRelease}, {"lockdown", capabilities.lockdown}}},
        {"features",
         {{{"name", "fast-path"},
           {"available", capabilities.fastPath.available},
           {"detail", capabilities.fastPath.detail}},
          {{"name", "fdb-in-place"},
           {"available", capabilities.inPlaceFdb.available},
           {"detail", capabilities.inPlaceFdb.detail}},
          {{"name", "vlans-in-place"},
           {"available", capabilities.inPlaceVlans.available},
           {"detail", capabilities.inPlaceVlans.detail}},
          {{"name", "tcx"},
           {"available", capabilities.tcx.available},
           {"detail", watched ? "not needed: nothing is read in place" : capabilities.tcx.detail}},
          {{"name", "fdb-kfunc"},
           {"available", capabilities.kfunc.available},
           {"detail", watched ? capabilities.kfunc.detail : notNeeded}},
          {{"name", "fdb-mirror"},
           {"available", capabilities.mirror.available},
           {"detail", !watched                       ? notNeeded
                      : capabilities.kfunc.available ? "not needed: the bridge is asked"
                                                     : capabilities.mirror.detail}},
          {{"name", "br_netfilter"},
           {"available", capabilities.brNetfilter},
           {"detail", capabilities.brNetfilter ? "present: its settings are tested for each frame"
                      : capabilities.brNetfilterHidden
                          ? "its addresses are not shown (kernel.kptr_restrict): while "
                            "it is loaded, bridged frames are Linux's"
                          : "not loaded"}},
          {{"name", "flowtable"},
           {"available", !watched && capabilities.flowtable.available},
           {"detail", watched ? "not used where nothing is read in place" : capabilities.flowtable.detail}}}},
        {"guards", guards},
        {"drivers", devices}};
}

} // namespace tna::daemon
