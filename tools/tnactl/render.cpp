// SPDX-License-Identifier: Apache-2.0
#include "tnactl/render.hpp"

#include "tnactl/table.hpp"

#include <fmt/format.h>
#include <functional>
#include <map>
#include <set>

namespace tna::ctl {

namespace {
using nlohmann::json;

std::string text(const json& object, const char* key) {
    if (!object.is_object() || !object.contains(key))
        return {};
    const auto& value = object[key];
    if (value.is_string())
        return value.get<std::string>();
    return value.is_null() ? std::string{} : value.dump();
}

double number(const json& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key].is_number() ? object[key].get<double>()
                                                                                 : 0;
}

json list(const json& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key].is_array() ? object[key] : json::array();
}

bool yes(const json& object, const char* key) {
    return object.is_object() && object.contains(key) && object[key] == true;
}

std::string rate(const json& port, const json& before, const char* key, double seconds) {
    for (const auto& old : list(before, "ports"))
        if (text(old, "name") == text(port, "name") && seconds > 0)
            return human(std::max(0.0, (number(port, key) - number(old, key)) / seconds));
    return "-";
}

std::string quoted(const std::string& value) {
    return json(value).dump();
}
} // namespace

std::string renderStatus(const json& now, const json& before, double seconds) {
    Table table{{"PORT", "BRIDGE", "STATE", "PROFILE", "FAST", "FAST/s", "SLOW", "SLOW/s", "WHY"}};
    for (const auto& port : list(now, "ports"))
        table.add({text(port, "name"), text(port, "bridge"), text(port, "state"), text(port, "profile"),
                   human(number(port, "fast_packets")), rate(port, before, "fast_packets", seconds),
                   human(number(port, "slow_packets")), rate(port, before, "slow_packets", seconds),
                   text(port, "why")});
    std::string head =
        fmt::format("tnad {}, up {} s, FDB {}{}\n", text(now, "version"), text(now, "uptime_s"),
                    text(now, "fdb"), yes(now, "paused") ? ", PAUSED" : "");
    if (list(now, "ports").empty())
        return head + "There are no bridge ports here.\n";
    return head + "\n" + table.text();
}

std::string renderPort(const json& document) {
    const auto port = document.is_object() ? document.value("port", json::object()) : json::object();
    std::string out = fmt::format("{}: {}", text(port, "name"), text(port, "state"));
    if (const auto profile = text(port, "profile"); !profile.empty())
        out += fmt::format(" ({}, {})", text(port, "hook"), profile);
    out += "\n";
    for (const auto& feature : list(document, "features"))
        for (const auto& reason : list(feature, "reasons")) {
            out += fmt::format("  {} is left to Linux: {}\n", text(feature, "feature"), text(reason, "text"));
            if (const auto hint = text(reason, "hint"); !hint.empty())
                out += fmt::format("    {}\n", hint);
        }
    out += fmt::format("\n{} frames took the fast path, {} were left to Linux",
                       human(number(port, "fast_packets")), human(number(port, "slow_packets")));
    const auto slow = list(document, "slow_path");
    out += slow.empty() ? ".\n" : ":\n";
    Table table{{"FRAMES", "REASON", "BECAUSE"}};
    for (const auto& reason : slow)
        table.add({text(reason, "packets"), text(reason, "code"), text(reason, "text")});
    return slow.empty() ? out : out + table.text();
}

std::string renderGraphTree(const json& graph) {
    std::map<std::string, json> nodes;
    std::map<std::string, std::vector<json>> needs;
    std::set<std::string> needed;
    for (const auto& node : list(graph, "nodes"))
        nodes[text(node, "id")] = node;
    for (const auto& edge : list(graph, "edges")) {
        needs[text(edge, "from")].push_back(edge);
        needed.insert(text(edge, "to"));
    }
    std::string out;
    std::set<std::string> above; // nothing is shown inside itself, whatever a broken graph says
    const std::function<void(const std::string&, const std::string&, const std::string&)> show =
        [&](const std::string& id, const std::string& indent, const std::string& why) {
            const auto& node = nodes[id];
            out += text(node, "kind") + " " + text(node, "label");
            const auto details = node.is_object() ? node.value("details", json::object()) : json::object();
            for (const auto& [key, value] : details.items())
                out +=
                    fmt::format("  {}={}", key, value.is_string() ? value.get<std::string>() : value.dump());
            out += (why.empty() ? "" : "  (" + why + ")") + "\n";
            if (!above.insert(id).second)
                return;
            const auto& below = needs[id];
            for (std::size_t i = 0; i < below.size(); i++) {
                const bool last = i + 1 == below.size();
                out += indent + (last ? "└─ " : "├─ ");
                show(text(below[i], "to"), indent + (last ? "   " : "│  "), text(below[i], "why"));
            }
            above.erase(id);
        };
    for (const auto& node : list(graph, "nodes"))
        if (const auto id = text(node, "id"); !needed.contains(id))
            show(id, "", "");
    return out;
}

std::string renderGraphDot(const json& graph) {
    std::string out = "digraph tna {\n  rankdir=LR;\n  node [shape=box];\n";
    for (const auto& node : list(graph, "nodes"))
        out += fmt::format("  {} [label={}];\n", quoted(text(node, "id")),
                           quoted(text(node, "kind") + " " + text(node, "label")));
    for (const auto& edge : list(graph, "edges"))
        out += fmt::format("  {} -> {} [label={}];\n", quoted(text(edge, "from")), quoted(text(edge, "to")),
                           quoted(text(edge, "why")));
    return out + "}\n";
}

std::string renderCapabilities(const json& document) {
    const auto kernel = document.is_object() ? document.value("kernel", json::object()) : json::object();
    std::string out =
        fmt::format("Linux {}, lockdown {}\n\n", text(kernel, "release"), text(kernel, "lockdown"));
    Table features{{"FEATURE", "AVAILABLE", "DETAIL"}};
    for (const auto& feature : list(document, "features"))
        features.add(
            {text(feature, "name"), yes(feature, "available") ? "yes" : "no", text(feature, "detail")});
    Table guards{{"GUARD", "MODE", "LOOKS AT"}};
    for (const auto& guard : list(document, "guards"))
        guards.add({text(guard, "name"), text(guard, "mode"), text(guard, "detail")});
    Table drivers{{"DEVICE", "DRIVER", "NATIVE XDP", "REDIRECT TARGET", "FRAGS"}};
    for (const auto& driver : list(document, "drivers"))
        drivers.add({text(driver, "name"), text(driver, "driver"), yes(driver, "native_xdp") ? "yes" : "no",
                     yes(driver, "redirect_target") ? "yes" : "no", yes(driver, "frags") ? "yes" : "no"});
    return out + features.text() + "\n" + guards.text() + "\n" + drivers.text();
}

} // namespace tna::ctl
