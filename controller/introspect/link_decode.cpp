// SPDX-License-Identifier: Apache-2.0
#include "introspect/link_decode.hpp"

#include "introspect/bridge_decode.hpp"

#include <algorithm>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_bridge.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

namespace tna::introspect {

static_assert(model::link_flag::up == IFF_UP && model::link_flag::promisc == IFF_PROMISC &&
              model::link_flag::loopback == IFF_LOOPBACK && model::link_flag::running == IFF_RUNNING &&
              model::link_flag::lowerUp == IFF_LOWER_UP);

namespace {

void decodeVlanDevice(Bytes data, model::Link& link) {
    model::VlanDevice vlan;
    forEachAttribute(data, [&](const Attribute& attribute) {
        if (attribute.type == IFLA_VLAN_ID)
            assign(attribute, vlan.vid);
        else if (attribute.type == IFLA_VLAN_PROTOCOL)
            if (const auto value = attribute.number<std::uint16_t>())
                vlan.protocol = __builtin_bswap16(*value);
    });
    link.vlan = vlan;
}

/// The kind comes before its data (rtnl_link_info_fill), but nothing relies on it here.
void decodeLinkInfo(Bytes info, model::Link& link) {
    Bytes data;
    Bytes slaveData;
    std::string slaveKind;
    forEachAttribute(info, [&](const Attribute& attribute) {
        switch (attribute.type) {
        case IFLA_INFO_KIND:
            link.kind = attribute.text();
            break;
        case IFLA_INFO_DATA:
            data = attribute.payload;
            break;
        case IFLA_INFO_SLAVE_KIND:
            slaveKind = attribute.text();
            break;
        case IFLA_INFO_SLAVE_DATA:
            slaveData = attribute.payload;
            break;
        default:
            break;
        }
    });
    if (link.kind == "bridge")
        link.bridge = decodeBridge(data);
    else if (link.kind == "vlan")
        decodeVlanDevice(data, link);
    if (slaveKind == "bridge")
        link.bridgePort = decodeBridgePort(slaveData);
}

void decodeXdp(Bytes bytes, model::XdpAttachment& xdp) {
    std::uint8_t mode = XDP_ATTACHED_NONE;
    std::uint32_t only = 0;
    forEachAttribute(bytes, [&](const Attribute& attribute) {
        if (attribute.type == IFLA_XDP_ATTACHED)
            assign(attribute, mode);
        else if (attribute.type == IFLA_XDP_PROG_ID)
            assign(attribute, only);
        else if (attribute.type == IFLA_XDP_DRV_PROG_ID)
            assign(attribute, xdp.driverProgram);
        else if (attribute.type == IFLA_XDP_SKB_PROG_ID)
            assign(attribute, xdp.genericProgram);
        else if (attribute.type == IFLA_XDP_HW_PROG_ID)
            assign(attribute, xdp.offloadProgram);
    });
    if (mode == XDP_ATTACHED_DRV && xdp.driverProgram == 0)
        xdp.driverProgram = only;
    else if (mode == XDP_ATTACHED_SKB && xdp.genericProgram == 0)
        xdp.genericProgram = only;
}

void decodeLinkAttribute(const Attribute& attribute, model::Link& link) {
    switch (attribute.type) {
    case IFLA_IFNAME:
        link.name = attribute.text();
        break;
    case IFLA_ADDRESS:
        if (attribute.payload.size() == link.mac.bytes.size())
            std::memcpy(link.mac.bytes.data(), attribute.payload.data(), link.mac.bytes.size());
        break;
    case IFLA_MTU:
        assign(attribute, link.mtu);
        break;
    case IFLA_LINK:
        assign(attribute, link.lower);
        break;
    case IFLA_LINK_NETNSID:
        link.lowerElsewhere = true;
        break;
    case IFLA_MASTER:
        assign(attribute, link.master);
        break;
    case IFLA_OPERSTATE:
        assign(attribute, link.operState);
        break;
    case IFLA_CARRIER:
        assignFlag(attribute, link.carrier);
        break;
    case IFLA_GROUP:
        assign(attribute, link.group);
        break;
    case IFLA_NUM_TX_QUEUES:
        assign(attribute, link.txQueues);
        break;
    case IFLA_NUM_RX_QUEUES:
        assign(attribute, link.rxQueues);
        break;
    case IFLA_QDISC:
        link.rootQdisc = attribute.text();
        break;
    case IFLA_PHYS_SWITCH_ID:
        link.switchPort = !attribute.payload.empty();
        break;
    case IFLA_LINKINFO:
        decodeLinkInfo(attribute.payload, link);
        break;
    case IFLA_XDP:
        decodeXdp(attribute.payload, link.xdp);
        break;
    default:
        break;
    }
}

} // namespace

model::IfIndex linkIndex(const Message& message) {
    const auto header = message.header<ifinfomsg>();
    return header ? static_cast<model::IfIndex>(header->ifi_index) : 0;
}

std::optional<model::Link> decodeLink(const Message& message) {
    const auto header = message.header<ifinfomsg>();
    if (!header || header->ifi_index <= 0)
        return std::nullopt;
    model::Link link;
    link.ifindex = static_cast<model::IfIndex>(header->ifi_index);
    link.flags = header->ifi_flags;
    link.ethernet = header->ifi_type == ARPHRD_ETHER;
    forEachAttribute(message.attributes<ifinfomsg>(),
                     [&](const Attribute& attribute) { decodeLinkAttribute(attribute, link); });
    return link.name.empty() ? std::nullopt : std::optional(std::move(link));
}

std::optional<LinkVlans> decodeVlans(const Message& message) {
    const auto header = message.header<ifinfomsg>();
    if (!header || header->ifi_index <= 0 || header->ifi_family != AF_BRIDGE)
        return std::nullopt;
    LinkVlans found{static_cast<model::IfIndex>(header->ifi_index), {}};
    forEachAttribute(message.attributes<ifinfomsg>(), [&](const Attribute& spec) {
        if (spec.type == IFLA_AF_SPEC)
            forEachAttribute(spec.payload, [&](const Attribute& attribute) {
                const auto info = attribute.number<bridge_vlan_info>();
                if (attribute.type == IFLA_BRIDGE_VLAN_INFO && info)
                    found.vlans.push_back({info->vid, (info->flags & BRIDGE_VLAN_INFO_PVID) != 0,
                                           (info->flags & BRIDGE_VLAN_INFO_UNTAGGED) != 0,
                                           model::StpState::forwarding});
            });
    });
    return found;
}

} // namespace tna::introspect
