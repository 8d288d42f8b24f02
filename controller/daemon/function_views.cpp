// SPDX-License-Identifier: Apache-2.0
#include "daemon/function_views.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tna::daemon {

namespace {
using nlohmann::json;

const char* nameOf(functions::Mode mode) {
    return mode == functions::Mode::zeroCopy ? "zero-copy" : "copy";
}

json socketDocument(const FunctionConnections::Socket& socket, const deploy::Steering& steering) {
    const auto counted = steering.counters(socket.key).value_or(deploy::QueueCounters{});
    const auto places = deploy::placesOn(socket.page.get());
    return {{"port", socket.port},          {"queue", socket.key.queue},
            {"zero_copy", socket.zeroCopy}, {"full", places <= counted.given},
            {"packets", counted.given},     {"no_room", counted.full},
            {"too_long", counted.too_long}};
}

json connectionDocument(const FunctionConnections::Connection& connection, const deploy::Steering& steering) {
    json sockets = json::array();
    for (const auto& socket : connection.sockets)
        sockets.push_back(socketDocument(socket, steering));
    return {{"process", connection.process},
            {"user", connection.user},
            {"goes_back", connection.goesBack},
            {"sockets", sockets}};
}

/// In one word; "full": a socket has no room, because its process does not take what it is given.
const char* wordFor(const FunctionSet::Function& function, const json& ports, const json& connections) {
    if (function.bypassed)
        return "bypassed";
    if (std::ranges::none_of(
            ports, [](const auto& port) { return port["there"] == true && port["against"].is_null(); }))
        return "no-port";
    if (connections.empty())
        return "nobody";
    for (const auto& connection : connections)
        for (const auto& socket : connection["sockets"])
            if (socket["full"] == true)
                return "full";
    return "connected";
}
} // namespace

json viewFunction(const FunctionSet::Function& function, const FunctionConnections& connections,
                  const deploy::Steering& steering, const std::map<std::string, unsigned>& ports,
                  const std::map<std::string, std::string>& against) {
    const auto& declared = function.declared;
    json where = json::array(), rules = json::array(), connected = json::array();
    for (const auto& port : declared.ports) {
        const auto why = against.find(port);
        where.push_back({{"name", port},
                         {"there", ports.contains(port) || why != against.end()},
                         {"against", why == against.end() ? json() : json(why->second)}});
    }
    for (std::size_t i = 0; i < declared.rules.size(); i++) {
        const auto counted = steering.counters(function.ruleNumbers.at(i));
        rules.push_back({{"rule", i + 1},
                         {"priority", declared.rules[i].priority},
                         {"packets", counted.packets},
                         {"bytes", counted.bytes},
                         {"otherwise", counted.otherwise}});
    }
    for (const auto& [id, connection] : connections.all())
        if (connection.function == declared.name)
            connected.push_back(connectionDocument(connection, steering));
    return {{"api", 1},
            {"name", declared.name},
            {"state", wordFor(function, where, connected)},
            {"users", declared.users},
            {"groups", declared.groups},
            {"ports", where},
            {"queues", declared.queues},
            {"frames", declared.frames},
            {"frame_size", declared.frameSize},
            {"mode", nameOf(declared.mode)},
            {"otherwise", declared.drop ? "drop" : "linux"},
            {"given_back", declared.givesOn ? "next" : "linux"},
            {"from_file", function.fromFile},
            {"rules", rules},
            {"connections", connected}};
}

json summarize(const json& function) {
    std::uint64_t packets = 0, bytes = 0, otherwise = 0;
    for (const auto& rule : function["rules"]) {
        packets += rule["packets"].get<std::uint64_t>();
        bytes += rule["bytes"].get<std::uint64_t>();
        otherwise += rule["otherwise"].get<std::uint64_t>();
    }
    return {{"name", function["name"]},
            {"state", function["state"]},
            {"packets", packets},
            {"bytes", bytes},
            {"otherwise", otherwise}};
}

} // namespace tna::daemon
