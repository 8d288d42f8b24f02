// SPDX-License-Identifier: Apache-2.0
#include "assemble/surroundings.hpp"

#include "assemble/devices.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

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
bool mayBeAtXdp(const Surroundings& around, const model::Link& link) {
    const auto& [network, capabilities, wishes] =
        std::tie(around.network, around.capabilities, around.wishes);
    const auto features = capabilities.devices.find(link.ifindex);
    const Promises promises{.trusted = wishes.trusted.contains(link.ifindex),
                            .finished = wishes.finished.contains(link.ifindex)};
    return (isPort(network, link) || around.underRoutedVlans.contains(link.ifindex)) && link.ethernet &&
           !link.switchPort && !leadsToSwitch(around.layers, link) &&
           !wishes.excluded.contains(link.ifindex) && features != capabilities.devices.end() &&
           features->second.native && !judge(network, around.layers, link, promises, true).ingress;
}

/// A device on top of others, which cannot be at XDP.
bool mayBeAtTcxOnly(const model::Network& network, const Wishes& wishes, const model::Link& link) {
    return isPort(network, link) && !mayBePort(link) && mayBePortAtTcx(link) &&
           !wishes.excluded.contains(link.ifindex);
}

/// Whether frames may be redirected to a port at XDP, as far as its device goes.
bool isReachedFromXdp(const Surroundings& around, const model::Link& link) {
    const auto& wishes = around.wishes;
    const Promises promises{.trusted = wishes.trusted.contains(link.ifindex), .finished = false};
    const auto judgement = judge(around.network, around.layers, link, promises, true);
    return !judgement.egress && (!wishes.refusalsUnseen || !mayRefuse(link));
}

/// Whether packets may come in by a port and leave by it again: they are routed between several devices that
/// have its frames, by VLAN. What else lies on a port (macvlans of containers, tunnels) forwards nothing by
/// it.
bool hasWayBack(const model::Network& network, model::IfIndex ifindex) {
    const auto& link = network.links.at(ifindex);
    const auto* base = link.bridgePort ? network.link(link.master) : &link;
    return base != nullptr && std::ranges::count_if(network.links, [&](const auto& item) {
                                  return item.second.vlan ? underRoutedVlan(network, item.second) == base
                                                          : &item.second == base && routes(*base);
                              }) > 1;
}

/// Ports that can be at XDP, by what XDP could do for them.
struct Cards {
    std::set<model::IfIndex> all, reached;
    bool anyWay = false; ///< from one to another, or back by another VLAN
};

Cards cardsOf(const Surroundings& around) {
    const auto& network = around.network;
    Cards cards;
    for (const auto& [ifindex, link] : network.links)
        if (!around.wishes.atTcx.contains(ifindex) && mayBeAtXdp(around, link)) {
            cards.all.insert(ifindex);
            if (isReachedFromXdp(around, link))
                cards.reached.insert(ifindex);
        }
    cards.anyWay = std::ranges::any_of(cards.reached, [&](model::IfIndex ifindex) {
        return cards.all.size() > 1 || hasWayBack(network, ifindex);
    });
    return cards;
}

/// What is named, and where there is any such port devices that can be nowhere else.
void placeAsWished(Surroundings& around) {
    const auto& wishes = around.wishes;
    for (const auto& [ifindex, link] : around.network.links)
        if (wishes.atTcx.contains(ifindex) && isPort(around.network, link) &&
            !wishes.excluded.contains(ifindex))
            around.onlyFromTcx.insert(ifindex);
    if (around.onlyFromTcx.empty())
        return;
    for (const auto& [ifindex, link] : around.network.links)
        if (!wishes.atTcx.contains(ifindex) && mayBeAtTcxOnly(around.network, wishes, link)) {
            around.atTcx.insert(ifindex);
            around.onlyFromTcx.insert(ifindex);
        }
}

/// Whether a custom module is wanted on a link that ports at tcx cannot have.
bool wantsXdp(const Wishes& wishes, model::IfIndex link) {
    const auto wanted = wishes.custom.find(link);
    return wanted != wishes.custom.end() &&
           std::ranges::any_of(wanted->second.byHook(), [&](const auto& hooked) {
               return std::ranges::any_of(hooked.second, [&](const auto& identity) {
                   return !wishes.customAtTcx.contains({identity, hooked.first});
               });
           });
}

/// XDP sends nothing to ports at tcx, nor to those whose drivers send in another way what is redirected.
/// Where it sends nothing at all, all ports are at tcx; but not those with modules that are for XDP only. A
/// card that is alone waits there for the ports of containers, so that it need not change hooks, which takes
/// some drivers a moment, as these come and go.
void placeAtTcx(Surroundings& around) {
    const auto& wishes = around.wishes;
    if (!around.tcx())
        return;
    around.atTcx = wishes.atTcx;
    placeAsWished(around);
    const auto cards = cardsOf(around);
    std::ranges::copy_if(cards.all, std::inserter(around.onlyFromTcx, around.onlyFromTcx.end()),
                         [&](model::IfIndex ifindex) {
                             return !cards.reached.contains(ifindex) || wishes.refused.contains(ifindex);
                         });
    for (const auto ifindex : cards.all) {
        const bool others = around.anotherOnlyFromTcx(ifindex);
        if (cards.anyWay || !(others || wishes.moreForTcx) || wantsXdp(wishes, ifindex) ||
            wishes.steered.contains(ifindex))
            continue;
        around.atTcx.insert(ifindex);
        if (!others)
            around.alone.insert(ifindex);
    }
}
} // namespace

bool Surroundings::anotherOnlyFromTcx(model::IfIndex ifindex) const {
    return std::ranges::any_of(
        onlyFromTcx, [&](model::IfIndex one) { return one != ifindex || hasWayBack(network, ifindex); });
}

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
bool leadsToSwitch(const model::Layers& layers, const model::Link& link) {
    return std::ranges::any_of(layers.on(link.ifindex),
                               [](const auto* above) { return above->switchPort && !above->vlan; });
}

Surroundings look(const model::Network& network, const capability::Capabilities& capabilities,
                  const Wishes& wishes) {
    Surroundings around{network, capabilities, wishes, model::Layers(network)};
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
    placeAtTcx(around);
    return around;
}

} // namespace tna::assemble
