// SPDX-License-Identifier: Apache-2.0
#include "graph/graph.hpp"

#include <algorithm>

namespace tna::graph {

namespace {
std::string id(const char* kind, std::uint64_t number) {
    return std::string(kind) + ":" + std::to_string(number);
}

bool sameButId(model::BridgeVlan one, const model::BridgeVlan& other) {
    one.vid = other.vid;
    return one == other;
}

/// "1(pvid,untagged) 10-19 20(blocking)"
std::string vlanText(const std::vector<model::BridgeVlan>& vlans) {
    std::string text;
    for (std::size_t first = 0, last = 0; first < vlans.size(); first = last + 1) {
        const auto& vlan = vlans[first];
        last = first;
        while (last + 1 < vlans.size() && sameButId(vlans[last + 1], vlan) &&
               vlans[last + 1].vid == vlans[last].vid + 1)
            last++;
        std::string marks;
        const auto mark = [&](const char* what) { marks += (marks.empty() ? "" : ",") + std::string(what); };
        if (vlan.pvid)
            mark("pvid");
        if (vlan.untagged)
            mark("untagged");
        if (vlan.state != model::StpState::forwarding)
            mark(model::toString(vlan.state));
        text += (text.empty() ? "" : " ") + std::to_string(vlan.vid) +
                (last > first ? "-" + std::to_string(vlans[last].vid) : "") +
                (marks.empty() ? "" : "(" + marks + ")");
    }
    return text.empty() ? "none" : text;
}

class Builder {
public:
    explicit Builder(const model::Network& network) : network_(network) {}

    Graph build() {
        for (const auto& [ifindex, link] : network_.links)
            addLink(link);
        for (const auto& qdisc : network_.qdiscs)
            addQdisc(qdisc);
        addNetfilter(network_.netfilter);
        for (const auto& table : network_.routes)
            addRoutes(table);
        return std::move(graph_);
    }

private:
    void edge(std::string from, std::string to, std::string why) {
        graph_.edges.push_back({std::move(from), std::move(to), std::move(why)});
    }

    void addLink(const model::Link& link) {
        Node node{id("link", link.ifindex), "link", link.name, {}};
        const bool loopback = (link.flags & model::link_flag::loopback) != 0;
        node.details["kind"] = loopback ? "loopback" : link.kind.empty() ? "hardware" : link.kind;
        node.details["state"] = link.up() ? "up" : "down";
        node.details["mtu"] = std::to_string(link.mtu);
        for (const auto& address : link.addresses)
            node.details["addresses"] += (node.details["addresses"].empty() ? "" : " ") + address.prefix;
        graph_.nodes.push_back(std::move(node));
        if (link.bridge)
            addBridge(link, *link.bridge);
        if (link.bridgePort)
            addPort(link, *link.bridgePort);
        addFilters(link, "ingress", link.ingressFilters, "its arriving frames pass them");
        addFilters(link, "egress", link.egressFilters, "its leaving frames pass them");
        if (link.vlan && network_.link(link.lower) != nullptr)
            edge(id("link", link.ifindex), id("link", link.lower),
                 "VLAN " + std::to_string(link.vlan->vid) + " of this device");
    }

    void addBridge(const model::Link& link, const model::BridgeOptions& bridge) {
        Node node{id("bridge", link.ifindex), "bridge", link.name, {}};
        node.details["vlan_filtering"] = bridge.vlanFiltering ? "on" : "off";
        node.details["stp"] = bridge.stpState == 0 ? "off" : bridge.stpState == 1 ? "kernel" : "user";
        node.details["ageing_time"] = std::to_string(bridge.ageingTime / 100) + " s";
        graph_.nodes.push_back(std::move(node));
        edge(id("bridge", link.ifindex), id("link", link.ifindex), "is this device");

        Node fdb{id("fdb", link.ifindex), "fdb", link.name + " stations", {}};
        if (const auto it = network_.fdb.find(link.ifindex); it != network_.fdb.end()) {
            fdb.details["learnt"] = std::to_string(it->second.dynamic);
            fdb.details["permanent"] = std::to_string(it->second.permanent);
        }
        graph_.nodes.push_back(std::move(fdb));
        edge(id("bridge", link.ifindex), id("fdb", link.ifindex), "finds stations in it");
    }

    void addPort(const model::Link& link, const model::BridgePort& port) {
        Node node{id("port", link.ifindex), "bridge-port", link.name, {}};
        node.details["stp_state"] = model::toString(port.state);
        if (const auto* bridge = network_.link(link.master);
            bridge != nullptr && bridge->bridge && bridge->bridge->vlanFiltering)
            node.details["vlans"] = vlanText(port.vlans);
        graph_.nodes.push_back(std::move(node));
        edge(id("port", link.ifindex), id("link", link.ifindex), "receives and sends by it");
        edge(id("port", link.ifindex), id("bridge", link.master), "belongs to it");
    }

    void addQdisc(const model::Qdisc& qdisc) {
        if (qdisc.kind == "noqueue" || network_.link(qdisc.ifindex) == nullptr)
            return;
        const auto name = id("qdisc", qdisc.ifindex) + ":" + std::to_string(qdisc.handle >> 16U) + ":" +
                          std::to_string(qdisc.parent);
        graph_.nodes.push_back({name, "qdisc", qdisc.kind, {}});
        const bool arriving = qdisc.kind == "ingress" || qdisc.kind == "clsact";
        edge(id("link", qdisc.ifindex), name, arriving ? "keeps filters there" : "sends through it");
    }

    void addFilters(const model::Link& link, const char* direction, std::uint32_t count, const char* why) {
        if (count == 0)
            return;
        const auto name = id("tc", link.ifindex) + ":" + direction;
        graph_.nodes.push_back({name, "tc-filters", direction, {{"count", std::to_string(count)}}});
        edge(id("link", link.ifindex), name, why);
    }

    void addNetfilter(const model::Netfilter& netfilter) {
        for (const auto& hook : netfilter.hooks) {
            const auto name = "netfilter:" + hook.family + ":" + hook.table + ":" + hook.chain;
            const auto known =
                std::ranges::any_of(graph_.nodes, [&](const Node& node) { return node.id == name; });
            if (!known)
                graph_.nodes.push_back({name,
                                        "netfilter-hook",
                                        hook.family + " " + hook.hook,
                                        {{"table", hook.table}, {"chain", hook.chain}}});
            for (const auto& [ifindex, link] : network_.links)
                addHookUser(link, hook, name);
        }
        for (const auto& table : netfilter.legacyTables)
            graph_.nodes.push_back({"netfilter:legacy:" + table, "netfilter-table", table + " (legacy)", {}});
    }

    /// Whose frames a hook sees.
    void addHookUser(const model::Link& link, const model::NetfilterHook& hook, const std::string& name) {
        if (!hook.device.empty() && hook.device == link.name)
            edge(id("link", link.ifindex), name, "its frames pass the chain");
        if (!link.bridge)
            return;
        const auto& bridge = *link.bridge;
        if (hook.family == "bridge")
            edge(id("bridge", link.ifindex), name, "its frames pass the chain");
        const bool ip = hook.family == "ip" || hook.family == "inet";
        const bool ip6 = hook.family == "ip6" || hook.family == "inet";
        if (hook.device.empty() &&
            ((ip && (bridge.nfCallIptables || sysctlOn("iptables"))) ||
             (ip6 && (bridge.nfCallIp6tables || sysctlOn("ip6tables"))) ||
             (hook.family == "arp" && (bridge.nfCallArptables || sysctlOn("arptables")))))
            edge(id("bridge", link.ifindex), name, "br_netfilter calls it for bridged frames");
    }

    [[nodiscard]] bool sysctlOn(const std::string& protocol) const {
        const auto it = network_.sysctls.find("net.bridge.bridge-nf-call-" + protocol);
        return it != network_.sysctls.end() && it->second != "0";
    }

    void addRoutes(const model::RouteTable& table) {
        const auto name = "routes:" + std::to_string(table.family) + ":" + std::to_string(table.table);
        Node node{name,
                  "route-table",
                  "IPv" + std::to_string(table.family) + " table " + std::to_string(table.table),
                  {}};
        for (const auto& [type, count] : table.byType)
            node.details[type] = std::to_string(count);
        graph_.nodes.push_back(std::move(node));
    }

    const model::Network& network_;
    Graph graph_;
};
} // namespace

Graph build(const model::Network& network) {
    return Builder(network).build();
}

} // namespace tna::graph
