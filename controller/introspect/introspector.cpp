// SPDX-License-Identifier: Apache-2.0
#include "introspect/introspector.hpp"

#include "introspect/link_decode.hpp"
#include "introspect/summary_decode.hpp"
#include "introspect/sysctl.hpp"

#include <algorithm>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>

namespace tna::introspect {

namespace {
template <typename Header>
Bytes bytesOf(const Header& header) {
    return std::as_bytes(std::span(&header, 1));
}

struct VlanDumpRequest {
    ifinfomsg header;
    nlattr attribute;
    std::uint32_t filter;
};
} // namespace

Result<std::unique_ptr<Introspector>> Introspector::open(int receiveBuffer) {
    auto events = NetlinkSocket::open({RTNLGRP_LINK, RTNLGRP_TC, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR},
                                      receiveBuffer);
    if (!events)
        return std::unexpected(events.error());
    auto queries = NetlinkSocket::open({}, 0);
    if (!queries)
        return std::unexpected(queries.error());
    auto devices = DeviceInfoReader::open();
    if (!devices)
        return std::unexpected(devices.error());
    std::unique_ptr<Introspector> introspector{
        new Introspector(std::move(*events), std::move(*queries), std::move(*devices))};
    if (auto read = introspector->resync(); !read)
        return std::unexpected(read.error());
    introspector->stats_ = {};
    return introspector;
}

Result<void> Introspector::resync() {
    stats_.resyncs++;
    network_ = {};
    network_.sysctls = readSysctls();
    if (auto done = dumpLinks(); !done)
        return done;
    return dumpQdiscs();
}

Result<void> Introspector::dumpLinks() {
    const ifinfomsg all{};
    if (auto done = queries_.dump(RTM_GETLINK, bytesOf(all), [this](const Message& m) { takeLink(m); });
        !done)
        return done;
    VlanDumpRequest vlans{};
    vlans.header.ifi_family = AF_BRIDGE;
    vlans.attribute = {sizeof(nlattr) + sizeof(std::uint32_t), IFLA_EXT_MASK};
    vlans.filter = RTEXT_FILTER_BRVLAN;
    if (auto done = queries_.dump(RTM_GETLINK, bytesOf(vlans), [this](const Message& m) { takeVlans(m); });
        !done)
        return done;
    const ifaddrmsg addresses{};
    return queries_.dump(RTM_GETADDR, bytesOf(addresses), [this](const Message& m) { takeAddress(m); });
}

Result<void> Introspector::dumpQdiscs() {
    network_.qdiscs.clear();
    const tcmsg all{};
    return queries_.dump(RTM_GETQDISC, bytesOf(all), [this](const Message& message) {
        if (auto qdisc = decodeQdisc(message))
            network_.qdiscs.push_back(std::move(*qdisc));
    });
}

void Introspector::takeLink(const Message& message) {
    auto link = decodeLink(message);
    if (!link)
        return;
    auto& known = network_.links[link->ifindex];
    const bool ask = known.name != link->name;
    link->addresses = std::move(known.addresses);
    if (link->bridge && known.bridge)
        link->bridge->vlans = std::move(known.bridge->vlans);
    if (link->bridgePort && known.bridgePort)
        link->bridgePort->vlans = std::move(known.bridgePort->vlans);
    link->driver = known.driver;
    link->vlanRxOffload = known.vlanRxOffload;
    link->vlanTxOffload = known.vlanTxOffload;
    if (ask) {
        const auto info = devices_.read(link->name);
        link->driver = info.driver;
        link->vlanRxOffload = info.vlanRxOffload;
        link->vlanTxOffload = info.vlanTxOffload;
    }
    known = std::move(*link);
}

/// AF_BRIDGE's RTM_DELLINK says that a link has left its bridge, not that it is gone.
void Introspector::dropLink(const Message& message) {
    const auto ifindex = linkIndex(message);
    const auto header = message.header<ifinfomsg>();
    if (header && header->ifi_family == AF_BRIDGE) {
        if (const auto it = network_.links.find(ifindex); it != network_.links.end()) {
            it->second.bridgePort.reset();
            it->second.master = 0;
        }
        return;
    }
    network_.links.erase(ifindex);
}

void Introspector::takeVlans(const Message& message) {
    auto found = decodeVlans(message);
    if (!found)
        return;
    const auto it = network_.links.find(found->ifindex);
    if (it == network_.links.end())
        return;
    if (it->second.bridgePort)
        it->second.bridgePort->vlans = std::move(found->vlans);
    else if (it->second.bridge)
        it->second.bridge->vlans = std::move(found->vlans);
}

void Introspector::takeAddress(const Message& message) {
    auto found = decodeAddress(message);
    const auto it = found ? network_.links.find(found->ifindex) : network_.links.end();
    if (it == network_.links.end())
        return;
    auto& addresses = it->second.addresses;
    std::erase(addresses, found->address);
    if (message.type == RTM_NEWADDR)
        addresses.push_back(std::move(found->address));
}

void Introspector::handle(const Message& message) {
    stats_.events++;
    switch (message.type) {
    case RTM_NEWLINK:
        // A bridge announces its ports' settings and VLANs in messages of its own family, which lack
        // most of what the link's own message has.
        if (const auto header = message.header<ifinfomsg>(); header && header->ifi_family == AF_BRIDGE)
            vlansChanged_ = true;
        else
            takeLink(message);
        break;
    case RTM_DELLINK:
        dropLink(message);
        break;
    case RTM_NEWADDR:
    case RTM_DELADDR:
        takeAddress(message);
        break;
    case RTM_NEWQDISC:
    case RTM_DELQDISC:
        qdiscsChanged_ = true;
        break;
    default:
        break;
    }
}

Result<Changes> Introspector::process() {
    const auto drained = events_.drain([this](const Message& message) { handle(message); });
    if (!drained || *drained == NetlinkSocket::Drained::overrun) {
        spdlog::warn("netlink notifications were lost: reading everything again");
        if (auto done = resync(); !done)
            return std::unexpected(done.error());
        return Changes{true, true};
    }
    if (*drained == NetlinkSocket::Drained::nothing)
        return Changes{};
    if (std::exchange(vlansChanged_, false))
        if (auto done = dumpLinks(); !done)
            return std::unexpected(done.error());
    if (std::exchange(qdiscsChanged_, false))
        if (auto done = dumpQdiscs(); !done)
            return std::unexpected(done.error());
    return Changes{true, false};
}

bool Introspector::refreshSysctls() {
    auto values = readSysctls();
    const bool changed = values != network_.sysctls;
    network_.sysctls = std::move(values);
    return changed;
}

Result<void> Introspector::refreshSummaries() {
    if (auto done = dumpStations(); !done)
        return done;
    return dumpRoutes();
}

Result<void> Introspector::dumpStations() {
    network_.fdb.clear();
    network_.neighbours.clear();
    const auto count = [this](const Message& message) {
        const auto neighbour = decodeNeighbour(message);
        if (!neighbour)
            return;
        if (neighbour->bridge) {
            auto& fdb = network_.fdb[neighbour->master != 0 ? neighbour->master : neighbour->ifindex];
            (neighbour->state & NUD_PERMANENT ? fdb.permanent : fdb.dynamic)++;
        } else {
            auto& known = network_.neighbours[neighbour->ifindex];
            const bool usable =
                (neighbour->state & (NUD_REACHABLE | NUD_PERMANENT | NUD_NOARP | NUD_DELAY | NUD_PROBE)) != 0;
            (usable ? known.reachable : neighbour->state & NUD_STALE ? known.stale : known.failed)++;
        }
    };
    ndmsg family{};
    if (auto done = queries_.dump(RTM_GETNEIGH, bytesOf(family), count); !done)
        return done;
    family.ndm_family = AF_BRIDGE;
    return queries_.dump(RTM_GETNEIGH, bytesOf(family), count);
}

Result<void> Introspector::dumpRoutes() {
    std::map<std::pair<std::uint8_t, std::uint32_t>, model::RouteTable> tables;
    const rtmsg all{};
    auto done = queries_.dump(RTM_GETROUTE, bytesOf(all), [&](const Message& message) {
        if (const auto key = decodeRoute(message)) {
            auto& table = tables[{key->family, key->table}];
            table.family = key->family;
            table.table = key->table;
            table.byType[key->type]++;
        }
    });
    if (!done)
        return done;
    network_.routes.clear();
    for (auto& [key, table] : tables)
        network_.routes.push_back(std::move(table));
    network_.rules.clear();
    const fib_rule_hdr rules{};
    return queries_.dump(RTM_GETRULE, bytesOf(rules), [this](const Message& message) {
        if (auto rule = decodeRule(message))
            network_.rules.push_back(std::move(*rule));
    });
}

} // namespace tna::introspect
