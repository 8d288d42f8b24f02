// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_bridge.hpp"

#include "introspect/numbers.hpp"

#include <bit>
#include <linux/if_bridge.h>
#include <linux/if_link.h>

namespace tna::introspect {

namespace {

model::StpState stpState(std::uint8_t value) {
    // A state that we do not know must not look like forwarding.
    return value <= static_cast<std::uint8_t>(model::StpState::blocking) ? static_cast<model::StpState>(value)
                                                                         : model::StpState::disabled;
}

std::uint16_t fromNetwork(std::uint16_t value) {
    return std::endian::native == std::endian::little ? __builtin_bswap16(value) : value;
}

void decodeEntry(const netlink::Attributes& entry, std::vector<model::BridgeVlan>& vlans) {
    const auto info = entry.value<bridge_vlan_info>(BRIDGE_VLANDB_ENTRY_INFO);
    if (!info || info->vid == 0 || info->vid >= 4095)
        return;
    const std::uint16_t last = entry.value<std::uint16_t>(BRIDGE_VLANDB_ENTRY_RANGE).value_or(info->vid);
    if (last >= 4095)
        return;
    model::BridgeVlan vlan;
    vlan.pvid = (info->flags & BRIDGE_VLAN_INFO_PVID) != 0;
    vlan.untagged = (info->flags & BRIDGE_VLAN_INFO_UNTAGGED) != 0;
    if (const auto state = entry.value<std::uint8_t>(BRIDGE_VLANDB_ENTRY_STATE))
        vlan.state = stpState(*state);
    for (std::uint16_t vid = info->vid; vid <= last; ++vid) {
        vlan.vid = vid;
        vlans.push_back(vlan);
    }
}

} // namespace

model::BridgeOptions decodeBridgeOptions(const netlink::Attributes& data) {
    model::BridgeOptions options;
    data.take(IFLA_BR_AGEING_TIME, options.ageingTime);
    data.take(IFLA_BR_FORWARD_DELAY, options.forwardDelay);
    data.take(IFLA_BR_HELLO_TIME, options.helloTime);
    data.take(IFLA_BR_MAX_AGE, options.maxAge);
    data.take(IFLA_BR_STP_STATE, options.stpState);
    data.take(IFLA_BR_PRIORITY, options.priority);
    data.take(IFLA_BR_VLAN_FILTERING, options.vlanFiltering);
    if (const auto protocol = data.value<std::uint16_t>(IFLA_BR_VLAN_PROTOCOL))
        options.vlanProtocol = fromNetwork(*protocol);
    data.take(IFLA_BR_VLAN_DEFAULT_PVID, options.defaultPvid);
    data.take(IFLA_BR_VLAN_STATS_ENABLED, options.vlanStats);
    data.take(IFLA_BR_GROUP_FWD_MASK, options.groupFwdMask);
    data.take(IFLA_BR_MCAST_SNOOPING, options.mcastSnooping);
    data.take(IFLA_BR_MCAST_QUERIER, options.mcastQuerier);
    data.take(IFLA_BR_NF_CALL_IPTABLES, options.nfCallIptables);
    data.take(IFLA_BR_NF_CALL_IP6TABLES, options.nfCallIp6tables);
    data.take(IFLA_BR_NF_CALL_ARPTABLES, options.nfCallArptables);
    data.take(IFLA_BR_TOPOLOGY_CHANGE, options.topologyChange);
    data.take(number::brFdbLearned, options.fdbLearned);
    data.take(number::brFdbMaxLearned, options.fdbMaxLearned);
    if (const auto multi = data.value<br_boolopt_multi>(IFLA_BR_MULTI_BOOLOPT))
        options.multiOptions = multi->optval;
    return options;
}

model::BridgePort decodeBridgePort(const netlink::Attributes& data) {
    model::BridgePort port;
    if (const auto state = data.value<std::uint8_t>(IFLA_BRPORT_STATE))
        port.state = stpState(*state);
    data.take(IFLA_BRPORT_PRIORITY, port.priority);
    data.take(IFLA_BRPORT_COST, port.cost);
    data.take(IFLA_BRPORT_LEARNING, port.learning);
    data.take(IFLA_BRPORT_UNICAST_FLOOD, port.unicastFlood);
    data.take(IFLA_BRPORT_MCAST_FLOOD, port.mcastFlood);
    data.take(IFLA_BRPORT_BCAST_FLOOD, port.bcastFlood);
    data.take(IFLA_BRPORT_MODE, port.hairpin);
    data.take(IFLA_BRPORT_GUARD, port.guard);
    data.take(IFLA_BRPORT_PROTECT, port.protect);
    data.take(IFLA_BRPORT_FAST_LEAVE, port.fastLeave);
    data.take(IFLA_BRPORT_PROXYARP, port.proxyArp);
    data.take(IFLA_BRPORT_PROXYARP_WIFI, port.proxyArpWifi);
    data.take(IFLA_BRPORT_MCAST_TO_UCAST, port.mcastToUnicast);
    data.take(IFLA_BRPORT_VLAN_TUNNEL, port.vlanTunnel);
    data.take(IFLA_BRPORT_NEIGH_SUPPRESS, port.neighSuppress);
    data.take(number::brportNeighVlanSuppress, port.neighVlanSuppress);
    data.take(IFLA_BRPORT_ISOLATED, port.isolated);
    data.take(IFLA_BRPORT_LOCKED, port.locked);
    data.take(number::brportMab, port.mab);
    data.take(IFLA_BRPORT_MULTICAST_ROUTER, port.mcastRouter);
    data.take(IFLA_BRPORT_GROUP_FWD_MASK, port.groupFwdMask);
    data.take(IFLA_BRPORT_BACKUP_PORT, port.backupPort);
    data.take(number::brportBackupNextHop, port.backupNextHop);
    return port;
}

std::optional<VlanMessage> decodeVlans(const netlink::Message& message) {
    const auto header = message.header<br_vlan_msg>();
    const auto attributes = message.attributes<br_vlan_msg>();
    if (!header || !attributes)
        return std::nullopt;
    VlanMessage decoded{header->ifindex, {}};
    bool sound = true;
    attributes->forEach([&](const netlink::Attribute& attribute) {
        if (attribute.type != BRIDGE_VLANDB_ENTRY)
            return;
        if (const auto entry = netlink::Attributes::parse(attribute.payload))
            decodeEntry(*entry, decoded.vlans);
        else
            sound = false;
    });
    return sound ? std::optional(decoded) : std::nullopt;
}

} // namespace tna::introspect
