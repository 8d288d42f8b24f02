// SPDX-License-Identifier: Apache-2.0
#include "introspect/links.hpp"

#include "introspect/decode_bridge.hpp"

#include <cerrno>
#include <linux/if_bridge.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <utility>

namespace tna::introspect {

namespace {

constexpr std::uint32_t skipStatistics = 1U << 3; // RTEXT_FILTER_SKIP_STATS

std::vector<model::BridgeVlan>* vlansOf(model::Link& link) {
    if (link.bridgePort)
        return &link.bridgePort->vlans;
    return link.bridge ? &link.bridge->vlans : nullptr;
}

/// What a link message does not say stays as it was.
void carryOver(model::Link& from, model::Link& to) {
    to.driver = from.driver;
    to.vlanRxOffload = from.vlanRxOffload;
    to.vlanTxOffload = from.vlanTxOffload;
    to.serviceTagRxOffload = from.serviceTagRxOffload;
    to.receiveChecksumOff = from.receiveChecksumOff;
    to.queues = std::move(from.queues);
    to.queueFilters = from.queueFilters;
    to.ingressFilters = from.ingressFilters;
    to.egressFilters = from.egressFilters;
    to.ip = from.ip;
    to.addresses = std::move(from.addresses);
    if (from.bridge && to.bridge)
        to.bridge->vlans = std::move(from.bridge->vlans);
    if (from.bridgePort && to.bridgePort && from.master == to.master)
        to.bridgePort->vlans = std::move(from.bridgePort->vlans);
}

/// Whether VLANs may have changed along with the link itself.
bool vlansMayDiffer(const model::Link& old, const model::Link& now) {
    if (now.bridgePort)
        return !old.bridgePort || old.master != now.master;
    if (!now.bridge)
        return false;
    return !old.bridge || old.bridge->vlanFiltering != now.bridge->vlanFiltering ||
           old.bridge->defaultPvid != now.bridge->defaultPvid;
}

} // namespace

void Links::apply(const model::Link& decoded) {
    model::Link& link = tracker_.edit(decoded.ifindex);
    model::Link now = decoded;
    renamed_ |= !link.name.empty() && link.name != now.name;
    if (vlansMayDiffer(link, now))
        staleVlans_.insert(now.ifindex);
    // The kind of a device never changes: another one under this index is another device.
    if (link.kind == now.kind)
        carryOver(link, now);
    ethtool_.describe(now);
    link = std::move(now);
    refreshPeers(link);
}

/// That the other end of a veth came or went is not announced for this end.
void Links::refreshPeers(const model::Link& link) {
    if (link.kind != "veth" || link.lowerElsewhere)
        return;
    const auto* peer = tracker_.network().link(link.lower);
    if (peer != nullptr && peer->kind == "veth" && (peer->lowerElsewhere || peer->lower != link.ifindex))
        stale_.insert(peer->ifindex);
}

void Links::remove(model::IfIndex ifindex) {
    tracker_.erase(ifindex);
    stale_.erase(ifindex);
    staleVlans_.erase(ifindex);
    for (const auto& [other, link] : tracker_.network().links)
        if (link.lower == ifindex && !link.lowerElsewhere)
            stale_.insert(other);
}

bool Links::onLink(const netlink::Message& message) {
    const auto decoded = decodeLink(message);
    if (!decoded)
        return false;
    const auto ifindex = decoded->link.ifindex;
    if (decoded->bridgeFamily) {
        // Sent for changes made by bridge(8), by STP and through sysfs. The link itself is read again, for
        // the order of these and of the plain link messages says nothing about which is newer.
        stale_.insert(ifindex);
        staleVlans_.insert(ifindex);
    } else if (decoded->removed) {
        remove(ifindex);
    } else {
        apply(decoded->link);
    }
    return true;
}

bool Links::takeRenamed() {
    return std::exchange(renamed_, false);
}

bool Links::onVlan(const netlink::Message& message) {
    const auto decoded = decodeVlans(message);
    if (decoded)
        staleVlans_.insert(decoded->ifindex);
    return decoded.has_value();
}

Result<void> Links::settle() {
    for (const auto ifindex : std::exchange(stale_, {}))
        if (auto done = read(ifindex); !done)
            return done;
    const auto vlans = std::exchange(staleVlans_, {});
    // From some number on, one dump of all is cheaper than many of one.
    if (vlans.size() > 64)
        return readVlans(0);
    for (const auto ifindex : vlans)
        if (auto done = readVlans(ifindex); !done)
            return done;
    return {};
}

Result<void> Links::read(model::IfIndex ifindex) {
    ifinfomsg header{};
    header.ifi_index = static_cast<int>(ifindex);
    netlink::Request request(RTM_GETLINK, 0, header);
    request.put(IFLA_EXT_MASK, skipStatistics);
    const auto outcome = requests_.exchange(request, [&](const netlink::Message& message) {
        if (const auto decoded = decodeLink(message); decoded && decoded->link.ifindex == ifindex)
            apply(decoded->link);
    });
    if (outcome.error == ENODEV) {
        remove(ifindex);
        return {};
    }
    if (outcome.error != 0)
        return failErrno(outcome.error, "cannot read link {}", ifindex);
    return {};
}

Result<void> Links::readVlans(model::IfIndex ifindex) {
    br_vlan_msg header{};
    header.family = AF_BRIDGE;
    header.ifindex = ifindex;
    netlink::Request request(RTM_GETVLAN, NLM_F_DUMP, header);
    std::map<model::IfIndex, std::vector<model::BridgeVlan>> found;
    const auto outcome = requests_.dump(
        request, [&] { found.clear(); },
        [&](const netlink::Message& message) {
            if (const auto decoded = decodeVlans(message)) {
                auto& vlans = found[decoded->ifindex];
                vlans.insert(vlans.end(), decoded->vlans.begin(), decoded->vlans.end());
            }
        });
    // Gone or no bridge any more; or a kernel whose bridges know no VLANs.
    const bool none = outcome.error == ENODEV || outcome.error == EINVAL || outcome.error == EOPNOTSUPP;
    if (outcome.error != 0 && !none)
        return failErrno(outcome.error, "cannot read the VLANs of bridge ports");
    for (auto& [index, known] : tracker_.network().links) {
        if (ifindex != 0 && index != ifindex)
            continue;
        if (known.bridge || known.bridgePort)
            *vlansOf(tracker_.edit(index)) = std::move(found[index]);
    }
    return {};
}

Result<void> Links::readAll() {
    netlink::Request request(RTM_GETLINK, NLM_F_DUMP, ifinfomsg{});
    request.put(IFLA_EXT_MASK, skipStatistics);
    std::map<model::IfIndex, model::Link> found;
    const auto outcome = requests_.dump(
        request, [&] { found.clear(); },
        [&](const netlink::Message& message) {
            if (auto decoded = decodeLink(message))
                found[decoded->link.ifindex] = std::move(decoded->link);
        });
    if (outcome.error != 0)
        return failErrno(outcome.error, "cannot read the links");
    std::set<model::IfIndex> gone;
    for (const auto& [ifindex, link] : tracker_.network().links)
        if (!found.contains(ifindex))
            gone.insert(ifindex);
    for (const auto ifindex : gone)
        tracker_.erase(ifindex);
    for (const auto& [ifindex, link] : found)
        apply(link);
    stale_.clear();
    staleVlans_.clear();
    return readVlans(0);
}

} // namespace tna::introspect
