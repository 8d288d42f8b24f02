// SPDX-License-Identifier: Apache-2.0
#include "assemble/watched.hpp"

#include "assemble/disciplines.hpp"

#include <algorithm>
#include <array>
#include <tna/fastpath.h>

namespace tna::assemble {

namespace {

/// Without learning from link-local frames, all is as usual; other options are Linux's.
constexpr std::uint64_t harmlessOptions = 1; // BR_BOOLOPT_NO_LL_LEARN

/// Of the ageing time; the same as for kernels that are read in place.
constexpr unsigned refreshPart = 64;

/// Of the times that netlink tells.
constexpr std::chrono::milliseconds clockTick{10};

constexpr std::uint32_t ethernetHeader = 14;
constexpr std::uint32_t vlanTag = 4;

bool captured(const Surroundings& around, const model::Link& link) {
    return around.network.captures.contains(0) || around.network.captures.contains(link.ifindex);
}

/// A hook may name devices by the start of their names, and flow tables are hooks as well.
bool hooked(const Surroundings& around, const model::Link& link, const std::string& where) {
    return std::ranges::any_of(around.network.netfilter.hooks, [&](const model::NetfilterHook& hook) {
        return hook.hook == where && (hook.family == "netdev" || hook.family == "inet") &&
               link.name.starts_with(hook.device);
    });
}

/// An expression in any chain of the bridge family may register hooks of its own (conntrack).
bool bridgeFiltered(const Surroundings& around) {
    const auto& netfilter = around.network.netfilter;
    return around.capabilities.ebtables || netfilter.bridgeRules > 0 ||
           std::ranges::any_of(netfilter.hooks, [](const model::NetfilterHook& hook) {
               return hook.family == "bridge" && hook.hook != "input" && hook.hook != "output";
           });
}

bool callsIptables(const Surroundings& around) {
    constexpr std::array<const char*, 2> settings = {"net.bridge.bridge-nf-call-iptables",
                                                     "net.bridge.bridge-nf-call-ip6tables"};
    return std::ranges::any_of(settings, [&](const char* name) {
        const auto it = around.network.sysctls.find(name);
        return it != around.network.sysctls.end() && it->second != "0";
    });
}

bool optionsNeedLinux(const Surroundings& around, const model::Link& bridge) {
    const auto& options = *bridge.bridge;
    if ((options.multiOptions & ~harmlessOptions) != 0 || options.nfCallIptables || options.nfCallIp6tables ||
        options.nfCallArptables || (options.vlanFiltering && options.vlanStats) ||
        around.wishes.ringBridges.contains(bridge.ifindex))
        return true;
    const auto ports = around.network.portsOf(bridge.ifindex);
    return std::ranges::any_of(ports, [](const model::Link* port) {
        return port->bridgePort->neighSuppress || port->bridgePort->neighVlanSuppress;
    });
}

/// Settings against the port, for which it is no port of the fast path at all where the kernel is read in
/// place. Of those that concern the bridge as a whole see optionsNeedLinux().
bool settingsNeedLinux(const model::BridgePort& port) {
    return !port.learning || port.locked || port.mab || port.vlanTunnel;
}

unsigned ingressReason(const Surroundings& around, const model::Link& link, const model::Link& bridge) {
    if (captured(around, link))
        return TNA_REASON_CAPTURE;
    if (link.ingressFilters > 0 || around.wishes.tcxIngress.contains(link.ifindex))
        return TNA_REASON_TC;
    if (hooked(around, link, "ingress"))
        return TNA_REASON_NETDEV_HOOK;
    if (optionsNeedLinux(around, bridge))
        return TNA_REASON_BRIDGE_OPTIONS;
    if (settingsNeedLinux(*link.bridgePort))
        return TNA_REASON_PORT_FLAGS;
    if (bridge.promiscuity > 0 || around.wishes.promiscuousBridges.contains(bridge.ifindex))
        return TNA_REASON_BRIDGE_PROMISC;
    if (bridgeFiltered(around))
        return TNA_REASON_NETFILTER;
    if (callsIptables(around))
        return TNA_REASON_BR_NETFILTER;
    if (link.bridgePort->state != model::StpState::forwarding)
        return TNA_REASON_PORT_STATE;
    return TNA_REASON_COUNT;
}

/// Without the kernel's word, a veth takes frames only if its far end does, which nobody tells.
bool takesRedirects(const Surroundings& around, const model::Link& link) {
    const auto features = around.capabilities.devices.find(link.ifindex);
    if (features == around.capabilities.devices.end() || !features->second.redirectTarget)
        return false;
    return around.capabilities.driversTell || link.kind != "veth" ||
           around.wishes.finished.contains(link.ifindex);
}

unsigned egressReason(const Surroundings& around, const model::Link& link, bool allowed) {
    const auto& port = *link.bridgePort;
    if (!allowed)
        return TNA_REASON_EGRESS_UNMANAGED;
    if (port.state != model::StpState::forwarding)
        return TNA_REASON_EGRESS_STATE;
    if (port.locked || port.mab || port.vlanTunnel || port.neighSuppress || port.neighVlanSuppress)
        return TNA_REASON_EGRESS_FLAGS;
    if (captured(around, link))
        return TNA_REASON_CAPTURE;
    if (link.egressFilters > 0 || around.wishes.tcxEgress.contains(link.ifindex))
        return TNA_REASON_TC;
    if (hooked(around, link, "egress"))
        return TNA_REASON_NETDEV_HOOK;
    if (!link.up() || !link.carrier)
        return TNA_REASON_EGRESS_DOWN;
    if (!queuesArePlain(link))
        return TNA_REASON_EGRESS_QDISC;
    if (!takesRedirects(around, link))
        return TNA_REASON_EGRESS_REDIRECT;
    return TNA_REASON_COUNT;
}

/// Linux hands a tagged frame to the VLAN device that it is for before the bridge sees it.
unsigned tagReason(const Surroundings& around, const model::Link& link) {
    const auto& devices = around.wishes.underVlanDevices;
    if (!devices)
        return TNA_REASON_TAGGED;
    return devices->contains(link.ifindex) ? TNA_REASON_VLAN_DEVICE : TNA_REASON_COUNT;
}

/// br_vlan_state_allowed(), and what becomes of the tag at egress.
std::uint64_t vlanPart(const model::BridgeVlan& vlan) {
    if (vlan.state == model::StpState::learning)
        return TNA_VLAN_LEARNS;
    if (vlan.state != model::StpState::forwarding)
        return TNA_VLAN_NONE;
    return vlan.untagged ? TNA_VLAN_UNTAGGED : TNA_VLAN_TAGGED;
}

void describeVlans(const model::BridgePort& port, WatchedPort& watched) {
    static_assert(std::tuple_size_v<VlanParts> == TNA_VLAN_WORDS);
    for (const auto& vlan : port.vlans) {
        watched.vlans.at(vlan.vid / TNA_VLANS_IN_WORD) |= vlanPart(vlan)
                                                          << 2 * (vlan.vid % TNA_VLANS_IN_WORD);
        if (vlan.pvid)
            watched.pvid = vlan.vid;
    }
}

/// While the topology changes, Linux ages by the forward delay.
std::chrono::nanoseconds refreshInterval(const model::BridgeOptions& options) {
    const auto lifetime =
        options.topologyChange ? std::min(options.ageingTime, options.forwardDelay) : options.ageingTime;
    return std::chrono::nanoseconds(clockTick) * std::uint64_t{lifetime} / refreshPart;
}

} // namespace

WatchedPort watchPort(const Surroundings& around, const model::Link& link, const model::Link& bridge,
                      bool egress, unsigned shortest) {
    const auto& port = *link.bridgePort;
    WatchedPort watched;
    watched.bridge = bridge.ifindex;
    watched.ingressReason = ingressReason(around, link, bridge);
    watched.egressReason = egressReason(around, link, egress);
    watched.tagReason = tagReason(around, link);
    watched.needsProgram = !around.capabilities.driversTell;
    watched.isolated = port.isolated;
    watched.learns = port.learning &&
                     (port.state == model::StpState::forwarding || port.state == model::StpState::learning);
    watched.maxFrame = link.mtu + ethernetHeader + vlanTag;
    watched.minFrame = shortest;
    watched.refresh = std::min(refreshInterval(*bridge.bridge), around.wishes.refresh);
    if (bridge.bridge->vlanFiltering) {
        watched.vlanProtocol = bridge.bridge->vlanProtocol;
        describeVlans(port, watched);
    }
    return watched;
}

} // namespace tna::assemble
