// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_link.hpp"

#include "introspect/decode_bridge.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::introspect {

namespace {

constexpr std::uint32_t iffUp = 1;
static_assert(model::link_flag::up == iffUp);

bool decodeLinkInfo(const netlink::Attributes& attributes, model::Link& link) {
    const auto info = attributes.nested(IFLA_LINKINFO);
    if (!info)
        return false;
    link.kind = info->text(IFLA_INFO_KIND);
    const auto data = info->nested(IFLA_INFO_DATA);
    const auto slave = info->nested(IFLA_INFO_SLAVE_DATA);
    if (link.kind == "bridge" || link.kind == "vlan") {
        if (!data)
            return false;
        if (link.kind == "bridge") {
            link.bridge = decodeBridgeOptions(*data);
        } else {
            model::VlanDevice vlan;
            data->take(IFLA_VLAN_ID, vlan.vid);
            if (const auto protocol = data->value<std::uint16_t>(IFLA_VLAN_PROTOCOL))
                vlan.protocol = ntohs(*protocol);
            link.vlan = vlan;
        }
    }
    if (info->text(IFLA_INFO_SLAVE_KIND) == "bridge") {
        if (!slave)
            return false;
        link.bridgePort = decodeBridgePort(*slave);
    }
    return true;
}

bool decodeXdp(const netlink::Attributes& attributes, model::XdpAttachment& out) {
    const auto xdp = attributes.nested(IFLA_XDP);
    if (!xdp)
        return false;
    xdp->take(IFLA_XDP_DRV_PROG_ID, out.driverProgram);
    xdp->take(IFLA_XDP_SKB_PROG_ID, out.genericProgram);
    xdp->take(IFLA_XDP_HW_PROG_ID, out.offloadProgram);
    return true;
}

void decodePlain(const netlink::Attributes& attributes, model::Link& link) {
    attributes.take(IFLA_MASTER, link.master);
    attributes.take(IFLA_LINK, link.lower);
    link.lowerElsewhere = attributes.has(IFLA_LINK_NETNSID);
    attributes.take(IFLA_OPERSTATE, link.operState);
    attributes.take(IFLA_PROMISCUITY, link.promiscuity);
    attributes.take(IFLA_CARRIER, link.carrier);
    attributes.take(IFLA_MTU, link.mtu);
    attributes.take(IFLA_MAX_MTU, link.maxMtu);
    attributes.take(IFLA_GROUP, link.group);
    attributes.take(IFLA_NUM_TX_QUEUES, link.txQueues);
    attributes.take(IFLA_NUM_RX_QUEUES, link.rxQueues);
    link.rootQdisc = attributes.text(IFLA_QDISC);
    link.switchPort = attributes.has(IFLA_PHYS_SWITCH_ID);
    if (const auto mac = attributes.find(IFLA_ADDRESS); mac && mac->size() == link.mac.bytes.size())
        std::memcpy(link.mac.bytes.data(), mac->data(), mac->size());
}

} // namespace

std::optional<LinkMessage> decodeLink(const netlink::Message& message) {
    if (message.type != RTM_NEWLINK && message.type != RTM_DELLINK)
        return std::nullopt;
    const auto header = message.header<ifinfomsg>();
    const auto attributes = message.attributes<ifinfomsg>();
    if (!header || !attributes || header->ifi_index <= 0)
        return std::nullopt;
    LinkMessage decoded;
    decoded.removed = message.type == RTM_DELLINK;
    decoded.bridgeFamily = header->ifi_family == AF_BRIDGE;
    model::Link& link = decoded.link;
    link.ifindex = static_cast<model::IfIndex>(header->ifi_index);
    link.flags = header->ifi_flags;
    link.ethernet = header->ifi_type == ARPHRD_ETHER;
    link.name = attributes->text(IFLA_IFNAME);
    if (decoded.bridgeFamily) {
        attributes->take(IFLA_MASTER, link.master);
        const auto port = attributes->nested(IFLA_PROTINFO);
        if (!port)
            return std::nullopt;
        if (attributes->has(IFLA_PROTINFO))
            link.bridgePort = decodeBridgePort(*port);
        return decoded;
    }
    decodePlain(*attributes, link);
    if (link.name.empty() || !decodeLinkInfo(*attributes, link) || !decodeXdp(*attributes, link.xdp))
        return std::nullopt;
    return decoded;
}

} // namespace tna::introspect
