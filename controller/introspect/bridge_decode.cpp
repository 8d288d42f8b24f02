// SPDX-License-Identifier: Apache-2.0
#include "introspect/bridge_decode.hpp"

#include <linux/if_bridge.h>
#include <linux/if_link.h>

namespace tna::introspect {

namespace {
// Newer than the headers that this may be built with.
constexpr std::uint16_t brFdbNLearned = 48;           // IFLA_BR_FDB_N_LEARNED, since 6.7
constexpr std::uint16_t brFdbMaxLearned = 49;         // IFLA_BR_FDB_MAX_LEARNED, since 6.7
constexpr std::uint16_t brportMab = 40;               // IFLA_BRPORT_MAB, since 6.2
constexpr std::uint16_t brportNeighVlanSuppress = 43; // IFLA_BRPORT_NEIGH_VLAN_SUPPRESS, since 6.4
constexpr std::uint16_t brportBackupNhid = 44;        // IFLA_BRPORT_BACKUP_NHID, since 6.6

void decodeTimes(const Attribute& attribute, model::BridgeOptions& bridge) {
    const auto value = attribute.number<std::uint32_t>();
    if (!value)
        return;
    switch (attribute.type) {
    case IFLA_BR_AGEING_TIME:
        bridge.ageingTime = *value;
        break;
    case IFLA_BR_FORWARD_DELAY:
        bridge.forwardDelay = *value;
        break;
    case IFLA_BR_HELLO_TIME:
        bridge.helloTime = *value;
        break;
    case IFLA_BR_MAX_AGE:
        bridge.maxAge = *value;
        break;
    case IFLA_BR_STP_STATE:
        bridge.stpState = *value;
        break;
    case brFdbNLearned:
        bridge.fdbLearned = *value;
        break;
    case brFdbMaxLearned:
        bridge.fdbMaxLearned = *value;
        break;
    default:
        break;
    }
}

void decodeBridgeAttribute(const Attribute& attribute, model::BridgeOptions& bridge) {
    switch (attribute.type) {
    case IFLA_BR_PRIORITY:
        assign(attribute, bridge.priority);
        break;
    case IFLA_BR_VLAN_FILTERING:
        assignFlag(attribute, bridge.vlanFiltering);
        break;
    case IFLA_BR_VLAN_PROTOCOL:
        if (const auto value = attribute.number<std::uint16_t>())
            bridge.vlanProtocol = __builtin_bswap16(*value);
        break;
    case IFLA_BR_VLAN_DEFAULT_PVID:
        assign(attribute, bridge.defaultPvid);
        break;
    case IFLA_BR_GROUP_FWD_MASK:
        assign(attribute, bridge.groupFwdMask);
        break;
    case IFLA_BR_MCAST_SNOOPING:
        assignFlag(attribute, bridge.mcastSnooping);
        break;
    case IFLA_BR_MCAST_QUERIER:
        assignFlag(attribute, bridge.mcastQuerier);
        break;
    case IFLA_BR_NF_CALL_IPTABLES:
        assignFlag(attribute, bridge.nfCallIptables);
        break;
    case IFLA_BR_NF_CALL_IP6TABLES:
        assignFlag(attribute, bridge.nfCallIp6tables);
        break;
    case IFLA_BR_NF_CALL_ARPTABLES:
        assignFlag(attribute, bridge.nfCallArptables);
        break;
    case IFLA_BR_TOPOLOGY_CHANGE:
        assignFlag(attribute, bridge.topologyChange);
        break;
    case IFLA_BR_MULTI_BOOLOPT:
        if (const auto value = attribute.number<br_boolopt_multi>())
            bridge.multiOptions = value->optval;
        break;
    default:
        decodeTimes(attribute, bridge);
        break;
    }
}

struct PortFlag {
    std::uint16_t type;
    bool model::BridgePort::* member;
};
constexpr PortFlag portFlags[] = {
    {IFLA_BRPORT_MODE, &model::BridgePort::hairpin},
    {IFLA_BRPORT_GUARD, &model::BridgePort::guard},
    {IFLA_BRPORT_PROTECT, &model::BridgePort::protect},
    {IFLA_BRPORT_FAST_LEAVE, &model::BridgePort::fastLeave},
    {IFLA_BRPORT_LEARNING, &model::BridgePort::learning},
    {IFLA_BRPORT_UNICAST_FLOOD, &model::BridgePort::unicastFlood},
    {IFLA_BRPORT_MCAST_FLOOD, &model::BridgePort::mcastFlood},
    {IFLA_BRPORT_BCAST_FLOOD, &model::BridgePort::bcastFlood},
    {IFLA_BRPORT_PROXYARP, &model::BridgePort::proxyArp},
    {IFLA_BRPORT_PROXYARP_WIFI, &model::BridgePort::proxyArpWifi},
    {IFLA_BRPORT_MCAST_TO_UCAST, &model::BridgePort::mcastToUnicast},
    {IFLA_BRPORT_VLAN_TUNNEL, &model::BridgePort::vlanTunnel},
    {IFLA_BRPORT_NEIGH_SUPPRESS, &model::BridgePort::neighSuppress},
    {IFLA_BRPORT_ISOLATED, &model::BridgePort::isolated},
    {IFLA_BRPORT_LOCKED, &model::BridgePort::locked},
    {brportMab, &model::BridgePort::mab},
    {brportNeighVlanSuppress, &model::BridgePort::neighVlanSuppress},
};

void decodePortAttribute(const Attribute& attribute, model::BridgePort& port) {
    for (const auto& flag : portFlags)
        if (flag.type == attribute.type)
            assignFlag(attribute, port.*flag.member);
    switch (attribute.type) {
    case IFLA_BRPORT_STATE:
        if (const auto value = attribute.number<std::uint8_t>(); value && *value <= BR_STATE_BLOCKING)
            port.state = static_cast<model::StpState>(*value);
        break;
    case IFLA_BRPORT_PRIORITY:
        assign(attribute, port.priority);
        break;
    case IFLA_BRPORT_COST:
        assign(attribute, port.cost);
        break;
    case IFLA_BRPORT_MULTICAST_ROUTER:
        assign(attribute, port.mcastRouter);
        break;
    case IFLA_BRPORT_GROUP_FWD_MASK:
        assign(attribute, port.groupFwdMask);
        break;
    case IFLA_BRPORT_BACKUP_PORT:
        assign(attribute, port.backupPort);
        break;
    case brportBackupNhid:
        assign(attribute, port.backupNextHop);
        break;
    default:
        break;
    }
}
} // namespace

model::BridgeOptions decodeBridge(Bytes data) {
    model::BridgeOptions bridge;
    forEachAttribute(data, [&](const Attribute& attribute) { decodeBridgeAttribute(attribute, bridge); });
    return bridge;
}

model::BridgePort decodeBridgePort(Bytes data) {
    model::BridgePort port;
    forEachAttribute(data, [&](const Attribute& attribute) { decodePortAttribute(attribute, port); });
    return port;
}

} // namespace tna::introspect
