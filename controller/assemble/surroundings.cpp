// SPDX-License-Identifier: Apache-2.0
#include "assemble/surroundings.hpp"

#include "assemble/devices.hpp"

#include <algorithm>

namespace tna::assemble {

namespace {
/// Whether a link may be one that packets are routed to and from, whatever it is.
bool takesPart(const model::Link& link) {
    return !link.bridgePort && (link.flags & model::link_flag::loopback) == 0 && link.up();
}

/// A bridge through whose ports packets may be routed to it, or to VLAN devices on it.
bool isBridge(const model::Link& link) {
    return link.bridge && link.master == 0 && takesPart(link);
}

/// The device under a VLAN device, if that and nothing else has its frames.
const model::Link* underVlan(const model::Network& network, const model::Link& link) {
    const auto* below =
        link.vlan && !link.lowerElsewhere && link.master == 0 ? network.link(link.lower) : nullptr;
    return below != nullptr && below->master == 0 && takesPart(*below) ? below : nullptr;
}

/// Whether a link is a port by itself: of a bridge, or one that packets are routed to and from.
bool isPort(const model::Network& network, const model::Link& link) {
    const auto* bridge = link.bridgePort ? network.link(link.master) : nullptr;
    return bridge != nullptr ? bridge->bridge.has_value()
                             : mayBePortAtTcx(link) && !link.bridge && routes(link);
}

/// Whether a port could be accelerated at XDP, as far as its device goes.
bool mayBeAtXdp(const model::Network& network, const capability::Capabilities& capabilities,
                const Wishes& wishes, const model::Link& link) {
    const auto features = capabilities.devices.find(link.ifindex);
    const Promises promises{.trusted = wishes.trusted.contains(link.ifindex),
                            .finished = wishes.finished.contains(link.ifindex)};
    return isPort(network, link) && link.ethernet && !link.switchPort && !leadsToSwitch(network, link) &&
           !wishes.excluded.contains(link.ifindex) && features != capabilities.devices.end() &&
           features->second.native && !judge(network, link, promises, true).ingress;
}

/// A device on top of others, which cannot be at XDP.
bool mayBeAtTcxOnly(const model::Network& network, const Wishes& wishes, const model::Link& link) {
    return isPort(network, link) && !mayBePort(link) && mayBePortAtTcx(link) &&
           !wishes.excluded.contains(link.ifindex);
}

/// What is at XDP sends nothing to ports at tcx. So a card all of whose frames are exchanged with such ports
/// is seen there as well; but not one that may send them back, by another VLAN.
std::set<model::IfIndex> seenAtTcx(const model::Network& network,
                                   const capability::Capabilities& capabilities, const Wishes& wishes) {
    auto seen = wishes.atTcx;
    if (!capabilities.tcx.available || capabilities.way == capability::Way::watched)
        return seen;
    const model::Link* other = nullptr;
    unsigned ports = 0, others = 0;
    for (const auto& [ifindex, link] : network.links)
        if (wishes.atTcx.contains(ifindex)) {
            ports += isPort(network, link) ? 1 : 0;
        } else if (mayBeAtXdp(network, capabilities, wishes, link)) {
            others++;
            other = &link;
        }
    if (ports > 0 && others == 1 && network.stackedOn(other->ifindex).empty() &&
        !wishes.custom.contains(other->ifindex) && !wishes.steered.contains(other->ifindex))
        seen.insert(other->ifindex);
    for (const auto& [ifindex, link] : network.links)
        if (ports > 0 && mayBeAtTcxOnly(network, wishes, link))
            seen.insert(ifindex);
    return seen;
}
} // namespace

/// Whether Linux routes packets to and from a link, of one protocol at least.
bool routes(const model::Link& link) {
    const auto forwarded = [&](const model::Address& address) {
        return address.family == 4 ? link.ip.forwarding4 : link.ip.forwarding6;
    };
    return takesPart(link) && std::ranges::any_of(link.addresses, forwarded);
}

/// The port or bridge by which a VLAN device's packets are routed, if there is one; null: they are left to
/// Linux. On a port, there may be another VLAN device in between.
const model::Link* underRoutedVlan(const model::Network& network, const model::Link& link) {
    const auto* below = routes(link) ? underVlan(network, link) : nullptr;
    const bool stack = below != nullptr && below->vlan;
    if (stack)
        below = underVlan(network, *below);
    if (below == nullptr)
        return nullptr;
    return (isBridge(*below) && !stack) || (mayBePortAtTcx(*below) && below->kind != "vlan") ? below
                                                                                             : nullptr;
}

/// DSA: Linux receives as a port of the switch what comes in here, whatever it looks like.
bool leadsToSwitch(const model::Network& network, const model::Link& link) {
    return std::ranges::any_of(network.stackedOn(link.ifindex),
                               [](const auto* above) { return above->switchPort && !above->vlan; });
}

Surroundings look(const model::Network& network, const capability::Capabilities& capabilities,
                  const Wishes& wishes) {
    Surroundings around{network, capabilities, wishes};
    around.atTcx = seenAtTcx(network, capabilities, wishes);
    bool vlansOnBridges = false;
    for (const auto& [ifindex, link] : network.links) {
        around.bridges |= link.bridge.has_value();
        if (isBridge(link) && routes(link))
            around.routedBridges.insert(ifindex);
        const auto* below = underRoutedVlan(network, link);
        if (below == nullptr)
            continue;
        (below->bridge ? around.routedBridges : around.underRoutedVlans).insert(below->ifindex);
        vlansOnBridges |= below->bridge.has_value();
        around.vlanStacks |= below->ifindex != link.lower;
    }
    const bool filtered = std::ranges::any_of(around.routedBridges, [&](model::IfIndex bridge) {
        return network.links.at(bridge).bridge->vlanFiltering;
    });
    around.manyRoutes = hasManyRoutes(network, wishes.manyRoutes);
    around.bridgeVlans = filtered ? capabilities.inPlaceVlans.available : vlansOnBridges;
    return around;
}

} // namespace tna::assemble
