// SPDX-License-Identifier: Apache-2.0
#include "tnactl/render.hpp"

#include "base/printable.hpp"
#include "tnactl/document.hpp"
#include "tnactl/table.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace tna::ctl {

namespace {
using nlohmann::json;

std::string rate(const json& port, const char* key) {
    return port.is_object() && port.contains(key) ? human(number(port, key)) : "-";
}

std::string quoted(const std::string& value) {
    return json(value).dump();
}

/// Where a port's frames are seen.
const char* placeOf(const std::string& hook) {
    if (hook == "tcx")
        return "at tcx, not at XDP";
    return hook == "xdp-native" ? "at XDP, and not at tcx as well" : "at tcx as well as at XDP";
}
} // namespace

json withRates(json now, const json& before, double seconds) {
    std::map<std::string, json> known;
    for (const auto& port : list(before, "ports"))
        known.emplace(raw(port, "name"), port);
    if (seconds <= 0 || list(now, "ports").empty())
        return now;
    for (auto& port : now["ports"]) {
        const auto old = known.find(raw(port, "name"));
        if (!port.is_object() || old == known.end())
            continue;
        for (const std::string path : {"fast", "slow"}) {
            const auto count = path + "_packets";
            // A port that was taken out and put in again starts from 0.
            port[path + "_pps"] =
                std::max(0.0, (number(port, count.c_str()) - number(old->second, count.c_str())) / seconds);
        }
    }
    return now;
}

std::string renderStatus(const json& status) {
    Table table{{"PORT", "BRIDGE", "STATE", "HOOK", "PROFILE", "FAST", "FAST/s", "SLOW", "SLOW/s", "WHY"}};
    for (const auto& port : list(status, "ports"))
        table.add({text(port, "name"), text(port, "bridge"), text(port, "state"), text(port, "hook"),
                   text(port, "profile"), human(number(port, "fast_packets")), rate(port, "fast_pps"),
                   human(number(port, "slow_packets")), rate(port, "slow_pps"), text(port, "why")});
    // How stations are found matters to bridges, and is known where there is one.
    const bool bridged = std::ranges::any_of(list(status, "ports"),
                                             [](const json& port) { return !text(port, "bridge").empty(); });
    std::string head =
        fmt::format("tnad {}, up {} s{}{}\n", text(status, "version"), text(status, "uptime_s"),
                    bridged ? ", FDB " + text(status, "fdb") : "", yes(status, "paused") ? ", PAUSED" : "");
    const auto check = status.is_object() ? status.value("self_check", json::object()) : json::object();
    for (const auto& module : list(check, "paused"))
        head += fmt::format(
            "THE SELF-CHECK HAS FAILED: all of {} is left to Linux; `journalctl -u tnad` says why, "
            "`tnactl resume` tries again.\n",
            module.is_string() ? module.get<std::string>() : "a module");
    if (list(status, "ports").empty())
        return head + "There are no ports here: no bridge has any, and no link with an address forwards "
                      "(sysctl net.ipv4.ip_forward, net.ipv6.conf.all.forwarding).\n";
    return head + "\n" + table.text();
}

std::string renderPort(const json& document) {
    const auto port = document.is_object() ? document.value("port", json::object()) : json::object();
    std::string out = fmt::format("{}: {}", text(port, "name"), text(port, "state"));
    if (const auto profile = text(port, "profile"); !profile.empty())
        out += fmt::format(" ({}, {})", text(port, "hook"), profile);
    out += "\n";
    if (const auto why = text(port, "hook_why"); !why.empty())
        out += fmt::format("  Its frames are seen {}: {}.\n", placeOf(text(port, "hook")), why);
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

std::string renderRoute(const json& document) {
    const auto part = [&](const char* name) {
        return document.is_object() ? document.value(name, json::object()) : json::object();
    };
    const auto kernel = part("kernel"), fast = part("fast_path");
    std::string linux = text(kernel, "error");
    if (linux.empty()) {
        linux = text(kernel, "type");
        for (const auto& [word, key] : {std::pair{" via ", "gateway"}, {" dev ", "device"}})
            if (const auto value = text(kernel, key); !value.empty())
                linux += word + value;
    }
    std::string tna = fmt::format("left to Linux: {} ({})", text(fast, "text"), text(fast, "reason"));
    if (text(fast, "action") == "forward")
        tna = fmt::format("out of {} to {} from {}", text(fast, "port"), text(fast, "destination_mac"),
                          text(fast, "source_mac"));
    for (auto vlan = fast.value("vlan", json()); vlan.is_object(); vlan = vlan.value("inner", json()))
        tna += fmt::format(" in VLAN {} ({})", text(vlan, "id"), text(vlan, "protocol"));
    const auto port = text(document, "port"), arrival = text(document, "received_as");
    return fmt::format("{} from {} iif {}{}\n  kernel:    {}\n  fast path: {}\n", text(document, "to"),
                       text(document, "from"), port, port == arrival ? "" : " (received as " + arrival + ")",
                       linux, tna);
}

namespace {
/// What needs what, below each other. What several need is told once, and named after that.
class Tree {
public:
    explicit Tree(const json& graph) {
        for (const auto& node : list(graph, "nodes"))
            nodes_[raw(node, "id")] = node;
        for (const auto& edge : list(graph, "edges")) {
            needs_[raw(edge, "from")].push_back(edge);
            needed_.insert(raw(edge, "to"));
        }
    }

    [[nodiscard]] bool isRoot(const std::string& id) const { return !needed_.contains(id); }

    void show(const std::string& id, const std::string& indent, const std::string& why) {
        const auto& node = nodes_[id];
        const auto& below = needs_[id];
        const bool again = !below.empty() && !told_.insert(id).second;
        out_ += text(node, "kind") + " " + text(node, "label");
        const auto details = node.is_object() ? node.value("details", json::object()) : json::object();
        if (!again)
            for (const auto& [key, value] : details.items())
                out_ += fmt::format("  {}={}", printable(key), text(details, key.c_str()));
        if (!why.empty())
            out_ += fmt::format("  ({}{})", why, again ? "; see above" : "");
        out_ += "\n";
        for (std::size_t i = 0; i < below.size() && !again; i++) {
            const bool last = i + 1 == below.size();
            out_ += indent + (last ? "└─ " : "├─ ");
            show(raw(below[i], "to"), indent + (last ? "   " : "│  "), text(below[i], "why"));
        }
    }

    [[nodiscard]] std::string take() { return std::move(out_); }

private:
    std::map<std::string, json> nodes_;
    std::map<std::string, std::vector<json>> needs_;
    std::set<std::string> needed_;
    std::set<std::string> told_;
    std::string out_;
};
} // namespace

std::string renderGraphTree(const json& graph) {
    Tree tree{graph};
    for (const auto& node : list(graph, "nodes"))
        if (const auto id = raw(node, "id"); tree.isRoot(id))
            tree.show(id, "", "");
    return tree.take();
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
    Table drivers{{"DEVICE", "DRIVER", "NATIVE XDP", "REDIRECT TARGET", "RECEIVES", "SENDS", "KNOWN BY",
                   "FRAGS", "MTU", "MAX MTU WITH XDP"}};
    const auto word = [](bool value) { return value ? "yes" : "no"; };
    for (const auto& driver : list(document, "drivers")) {
        const auto known = driver.is_object() ? driver.value("known", json()) : json();
        const auto told = [&](const char* key) {
            return known.is_object() ? text(known, key) : std::string("not known");
        };
        drivers.add({text(driver, "name"), text(driver, "driver"), word(yes(driver, "native_xdp")),
                     word(yes(driver, "redirect_target")), told("receive"), told("send"), told("by"),
                     word(yes(driver, "frags")), text(driver, "mtu"), text(driver, "max_mtu_with_xdp")});
    }
    return out + features.text() + "\n" + guards.text() + "\n" + drivers.text();
}

} // namespace tna::ctl
