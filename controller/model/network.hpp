// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/link.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tna::model {

/// A queueing discipline that is not the link's default.
struct Qdisc {
    IfIndex ifindex = 0;
    std::uint32_t handle = 0;
    std::uint32_t parent = 0;
    std::string kind;
    std::map<std::string, std::uint64_t> settings; ///< see Discipline
    bool operator==(const Qdisc&) const = default;
};

/// One entry of a bridge's forwarding database.
struct FdbEntry {
    MacAddress mac;
    std::uint16_t vlan = 0;
    std::uint16_t state = 0; ///< NUD_*
    std::uint32_t flags = 0; ///< NTF_* and NTF_EXT_* (shifted by 8)
    IfIndex port = 0;        ///< the port's link; the bridge itself for entries of the host
    IfIndex bridge = 0;
    bool operator==(const FdbEntry&) const = default;
};

/// FDB entries are many, so they are kept by count; the fast path reads the kernel's own table.
struct FdbSummary {
    std::uint32_t dynamic = 0;
    std::uint32_t permanent = 0;
    bool operator==(const FdbSummary&) const = default;
};

/// Routes are many, so they are kept by count per table and type ("unicast", "blackhole", ...).
struct RouteTable {
    std::uint8_t family = 0; ///< 4 or 6
    std::uint32_t table = 0;
    std::map<std::string, std::uint32_t> byType;
    bool operator==(const RouteTable&) const = default;
};

struct Rule {
    std::uint8_t family = 0; ///< 4 or 6
    std::uint32_t priority = 0;
    std::uint32_t table = 0;
    std::string action = "lookup";
    std::string selector; ///< as text, empty for "from all"
    bool operator==(const Rule&) const = default;
};

struct NeighbourSummary {
    std::uint32_t reachable = 0; ///< reachable, permanent, noarp, delay, probe
    std::uint32_t stale = 0;
    std::uint32_t failed = 0;
    bool operator==(const NeighbourSummary&) const = default;
};

/// One base chain, or one place where packets are looked at.
struct NetfilterHook {
    std::string family; ///< "bridge", "ip", "ip6", "inet", "arp", "netdev"
    std::string table;
    std::string chain;
    std::string hook; ///< "prerouting", "forward", ...
    std::string device;
    bool flowtable = false; ///< no chain: a flowtable, by whose name it is called
    bool operator==(const NetfilterHook&) const = default;
};

struct Netfilter {
    std::vector<NetfilterHook> hooks;
    std::uint32_t rules = 0;
    std::uint32_t bridgeRules = 0;      ///< those of the bridge family
    std::set<std::string> legacyTables; ///< "ip filter", "ip6 nat", "bridge filter", ...
    bool operator==(const Netfilter&) const = default;
};

/// What a network namespace is configured to do.
struct Network {
    std::map<IfIndex, Link> links;
    std::vector<Qdisc> qdiscs;
    std::map<IfIndex, FdbSummary> fdb; ///< by bridge
    std::vector<RouteTable> routes;
    std::vector<Rule> rules;
    std::map<IfIndex, NeighbourSummary> neighbours;
    Netfilter netfilter;
    std::uint32_t xfrmPolicies = 0;
    /// Links of packet sockets that get every frame; 0 for those that listen on all links.
    std::set<IfIndex> captures;
    std::map<std::string, std::string> sysctls; ///< "net.bridge.bridge-nf-call-iptables" -> "1"

    bool operator==(const Network&) const = default;

    [[nodiscard]] const Link* link(IfIndex ifindex) const;
    [[nodiscard]] const Link* linkByName(const std::string& name) const;
    [[nodiscard]] std::vector<const Link*> portsOf(IfIndex bridge) const;
    /// Links stacked on `ifindex` with IFLA_LINK (VLAN devices, macvlans) in this namespace.
    [[nodiscard]] std::vector<const Link*> stackedOn(IfIndex ifindex) const;
};

} // namespace tna::model
