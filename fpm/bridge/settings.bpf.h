/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BRIDGE_SETTINGS_H
#define TNA_BRIDGE_SETTINGS_H

/* What a bridge and its ports can be set to, and what of it matters for a known unicast frame. */

#include "bridge/vlan.bpf.h"
#include "guards/capture.bpf.h"
#include "kernel/device.bpf.h"

/* include/linux/if_bridge.h: port flags that change nothing for a known unicast frame that is not ARP */
#define PORT_HAIRPIN (1u << 0) /* a frame back out of its own port is left to Linux anyway */
#define PORT_BPDU_GUARD (1u << 1)
#define PORT_ROOT_BLOCK (1u << 2)
#define PORT_FAST_LEAVE (1u << 3)
#define PORT_ADMIN_COST (1u << 4)
#define PORT_LEARNING (1u << 5)
#define PORT_FLOOD (1u << 6)
#define PORT_PROMISC (1u << 7) /* of the port, kept by the bridge itself */
#define PORT_PROXYARP (1u << 8)
#define PORT_LEARNING_SYNC (1u << 9)
#define PORT_PROXYARP_WIFI (1u << 10)
#define PORT_MCAST_FLOOD (1u << 11)
#define PORT_MCAST_TO_UNICAST (1u << 12)
#define PORT_BCAST_FLOOD (1u << 14)
#define PORT_ISOLATED (1u << 16)
#define PORT_HARMLESS                                                                                        \
	(PORT_HAIRPIN | PORT_BPDU_GUARD | PORT_ROOT_BLOCK | PORT_FAST_LEAVE | PORT_ADMIN_COST | PORT_FLOOD | \
	 PORT_PROMISC | PORT_PROXYARP | PORT_LEARNING_SYNC | PORT_PROXYARP_WIFI | PORT_MCAST_FLOOD |         \
	 PORT_MCAST_TO_UNICAST | PORT_BCAST_FLOOD | PORT_ISOLATED)

/* enum net_bridge_opts: options that change nothing for such a frame */
#define OPTION_VLAN_ENABLED (1u << 0)
#define OPTION_VLAN_STATS (1u << 1) /* counted where VLANs are filtered */
#define OPTION_GROUP_ADDR_SET (1u << 5)
#define OPTION_MULTICAST_ENABLED (1u << 6)
#define OPTION_MCAST_QUERY_USE_IFADDR (1u << 7)
#define OPTION_MCAST_STATS (1u << 8)
#define OPTION_HAS_IPV6_ADDR (1u << 9)
#define OPTION_MTU_SET_BY_USER (1u << 11)
#define OPTION_VLAN_STATS_PER_PORT (1u << 12)
#define OPTION_NO_LL_LEARN (1u << 13)
#define OPTION_VLAN_BRIDGE_BINDING (1u << 14)
#define OPTIONS_HARMLESS                                                                                     \
	(OPTION_VLAN_STATS | OPTION_GROUP_ADDR_SET | OPTION_MULTICAST_ENABLED |                              \
	 OPTION_MCAST_QUERY_USE_IFADDR | OPTION_MCAST_STATS | OPTION_HAS_IPV6_ADDR |                         \
	 OPTION_MTU_SET_BY_USER | OPTION_VLAN_STATS_PER_PORT | OPTION_NO_LL_LEARN |                          \
	 OPTION_VLAN_BRIDGE_BINDING)

#define ETH_P_MRP_BRIDGE 0x88e3
#define ETH_P_CFM_BRIDGE 0x8902

/* What a bridge takes for itself, before it learns the sender (br_process_frame_type()), if it is told to. */
INLINE int bridge_protocol_is_its_own(u32 protocol)
{
	return protocol == bpf_htons(ETH_P_MRP_BRIDGE) || protocol == bpf_htons(ETH_P_CFM_BRIDGE);
}

/* Protocols that br_handle_frame() or the proxy ARP code may answer or consume. */
INLINE int bridge_protocol_is_special(u32 protocol)
{
	return protocol == bpf_htons(ETH_P_ARP) || protocol == bpf_htons(ETH_P_RARP) ||
	       bridge_protocol_is_its_own(protocol) || bpf_ntohs(protocol) < ETH_P_802_3_MIN;
}

/* VLAN devices on a port; without a vlan_info, what is read is 0 (kernel/access.h). */
INLINE u64 bridge_vlan_devices(struct net_device *ingress)
{
	u64 info = KGET(u64, ingress, vlan_info);

	if (!bpf_core_field_exists(struct vlan_info, grp.nr_vlan_devs))
		return info;
	return KGET(u32, KOBJ(struct vlan_info, info), grp.nr_vlan_devs);
}

/*
 * A tagged frame: Linux takes the outer tag off (skb_vlan_untag()) and asks for a VLAN device on the
 * port before the bridge sees it; without VLAN filtering the tag is put back at egress. Where bridges
 * know VLANs, each port has a vlan_info for the ids it is to receive; devices are counted apart.
 */
INLINE u64 bridge_tagged_to_vlan_device(u32 protocol, struct net_device *ingress)
{
	if (!is_vlan(protocol) || !bpf_core_field_exists(struct net_device, vlan_info))
		return 0;
	return bridge_vlan_devices(ingress);
}

/* The protocol that decides: the one behind the outer tag. */
INLINE int bridge_frame_is_special(hook_context *ctx, u32 protocol)
{
	return bridge_protocol_is_special(is_vlan(protocol) ? packet_inner_protocol(ctx) : protocol);
}

/* Of the ingress port. */
INLINE u64 bridge_port_flags(u64 flags)
{
	return (flags & ~(u64)PORT_HARMLESS) ^ PORT_LEARNING;
}

/* Of the egress port, learning does not matter; of two isolated ports, neither sends to the other. */
INLINE u64 bridge_egress_flags(struct net_bridge_port *port, u64 ingress_flags)
{
	return KGET(u64, port, flags) &
	       (~(u64)(PORT_HARMLESS | PORT_LEARNING) | (ingress_flags & PORT_ISOLATED));
}

INLINE u64 bridge_port_state(struct net_bridge_port *port)
{
	return KGET(u8, port, state) ^ BR_STATE_FORWARDING;
}

/* As the profile has it, the bridge filters VLANs or does not. */
INLINE u64 bridge_options(struct net_bridge *bridge, const int vlans)
{
	u64 options = KGET(u64, bridge, options);

	if (!vlans)
		return options & ~(u64)OPTIONS_HARMLESS;
	if (!VLAN_KNOWN)
		return 1;
	u64 word = (options & ~(u64)(OPTIONS_HARMLESS & ~OPTION_VLAN_STATS)) ^ OPTION_VLAN_ENABLED;

	COLLECT(word, KGET(u16, bridge, vlan_proto) ^ CONSTANT(VLAN));
	return word;
}

/*
 * Linux refreshes a source's entry with each frame; here one frame goes to Linux when the entry is
 * older than 1/64 of the ageing time, so that it never ages out while in use; and never older than REFRESH,
 * for when that time is made shorter, which Linux goes by at once. During a topology
 * change Linux ages by forward_delay (at least 2 s) instead. The moment is computed when the flow is
 * filled; the controller moves the epoch when a bridge's times change.
 */
INLINE u64 bridge_refresh_age(struct net_bridge *bridge)
{
	u64 part = KGET(u64, bridge, ageing_time) >> 6 >> 4 * !!KGET(u8, bridge, topology_change);
	u64 most = CONSTANT(REFRESH);

	return part < most ? part : most;
}

/* A bridge is its device's private part: since 6.9 it lies at a known place behind the device. */
INLINE u64 bridge_device(u64 address, struct net_bridge *bridge)
{
	return bpf_core_field_exists(struct net_device, priv)
		       ? address - bpf_core_field_offset(struct net_device, priv)
		       : KGET(u64, bridge, dev);
}

INLINE u64 bridge_promisc(u64 address, struct net_bridge *bridge)
{
	return KGET(u32, KOBJ(struct net_device, bridge_device(address, bridge)), flags) & IFF_PROMISC;
}

/* net_bridge_port.hwdom: both ports belong to one switch chip that forwards by itself */
INLINE u64 bridge_port_offloaded(u64 port)
{
	return bpf_core_field_exists(struct net_bridge_port, hwdom)
		       ? KLOAD(u32, KADDR(struct net_bridge_port, port, hwdom))
		       : 0;
}

#endif
