/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BRIDGE_H
#define TNA_BRIDGE_H

/*
 * Known unicast between two ports of a bridge without VLAN filtering. See README.md beside this file
 * for what is accelerated and what is left to Linux.
 *
 * The decision is made twice in this file: bridge_forward() takes it for every frame, all tests
 * collected in one word; bridge_why() finds out which test it was, for the few frames left to Linux.
 */

#include "fdb/fdb.bpf.h"
#include "guards/bridge_netfilter.bpf.h"
#include "guards/capture.bpf.h"
#include "guards/egress.bpf.h"
#include "guards/namespace.bpf.h"
#include "guards/netdev_hook.bpf.h"
#include "guards/sender.bpf.h"
#include "guards/tc.bpf.h"
#include "packet/packet.bpf.h"
#include "pipeline/state.bpf.h"

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
#define OPTION_VLAN_STATS (1u << 1)
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

/* Protocols that br_handle_frame() or the proxy ARP code may answer or consume. */
INLINE int bridge_protocol_is_special(u32 protocol)
{
	return protocol == bpf_htons(ETH_P_ARP) || protocol == bpf_htons(ETH_P_RARP) ||
	       protocol == bpf_htons(ETH_P_MRP_BRIDGE) || protocol == bpf_htons(ETH_P_CFM_BRIDGE) ||
	       bpf_ntohs(protocol) < ETH_P_802_3_MIN;
}

/*
 * A tagged frame: Linux takes the outer tag off (skb_vlan_untag()) and asks for a VLAN device on the
 * port before the bridge sees it; without VLAN filtering the tag is put back at egress.
 */
INLINE u64 bridge_tagged_to_vlan_device(struct net_device *ingress)
{
	return bpf_core_field_exists(struct net_device, vlan_info) ? KGET(u64, ingress, vlan_info) : 0;
}

INLINE u64 bridge_port_flags(struct net_bridge_port *port)
{
	return (KGET(u64, port, flags) & ~(u64)PORT_HARMLESS) ^ PORT_LEARNING;
}

/* Of the egress port, learning does not matter. */
INLINE u64 bridge_egress_flags(struct net_bridge_port *port)
{
	return KGET(u64, port, flags) & ~(u64)(PORT_HARMLESS | PORT_LEARNING);
}

INLINE u64 bridge_port_state(struct net_bridge_port *port)
{
	return KGET(u8, port, state) ^ BR_STATE_FORWARDING;
}

INLINE u64 bridge_options(struct net_bridge *bridge)
{
	return KGET(u64, bridge, options) & ~(u64)OPTIONS_HARMLESS;
}

/*
 * Linux refreshes a source's entry with each frame; here one frame goes to Linux when the entry is
 * older than 1/64 of the ageing time, so that it never ages out while in use. During a topology
 * change Linux ages by forward_delay (at least 2 s) instead. The moment is computed when the flow is
 * filled; the controller moves the epoch when a bridge's times change.
 */
INLINE u64 bridge_refresh_age(struct net_bridge *bridge)
{
	return KGET(u64, bridge, ageing_time) >> 6 >> 4 * !!KGET(u8, bridge, topology_change);
}

/* A bridge is its device's private part: since 6.9 it lies at a known place behind the device. */
INLINE u64 bridge_promisc(u64 address, struct net_bridge *bridge)
{
	u64 device = bpf_core_field_exists(struct net_device, priv)
			     ? address - bpf_core_field_offset(struct net_device, priv)
			     : KGET(u64, bridge, dev);

	return KGET(u32, KOBJ(struct net_device, device), flags) & IFF_PROMISC;
}

/* net_bridge_port.hwdom: both ports belong to one switch chip that forwards by itself */
INLINE u64 bridge_port_offloaded(u64 port)
{
	return bpf_core_field_exists(struct net_bridge_port, hwdom)
		       ? KLOAD(u32, KADDR(struct net_bridge_port, port, hwdom))
		       : 0;
}

/*
 * Looks a flow up from nothing. What depends on the key alone, or cannot change while an FDB entry or
 * a port lives, is tested here and not for every frame. False: not to be cached, so not to be
 * forwarded.
 */
NOINLINE int bridge_fill(struct tna_flow *flow, u64 device, u64 destination, u64 source)
{
	struct net_device *ingress = KOBJ(struct net_device, device);
	u32 epoch = home.epoch;

	if (!flow || (destination & MAC_MULTICAST) || (source & MAC_MULTICAST) || !source)
		return 0;
	if (!(BPF_CORE_READ_BITFIELD(ingress, priv_flags) & IFF_BRIDGE_PORT))
		return 0;
	/* A device that leaves the namespace leaves its bridge, and egress_ports forgets it. */
	if (guard_namespace(ingress, CONSTANT(NET)))
		return 0;
	u64 port = KGET(u64, ingress, rx_handler_data);
	u64 bridge = KLOAD(u64, KADDR(struct net_bridge_port, port, br));
	u64 from = fdb_find(bridge, source), to = fdb_find(bridge, destination);

	if (!from || !to)
		return 0;
	struct net_bridge_fdb_entry *source_entry = KOBJ(struct net_bridge_fdb_entry, from);

	if (KGET(u64, source_entry, flags) & FDB_LOCKED)
		return 0;
	u64 egress_port = KLOAD(u64, KADDR(struct net_bridge_fdb_entry, to, dst));
	u64 egress = KLOAD(u64, KADDR(struct net_bridge_port, egress_port, dev));

	if (bridge_port_offloaded(port) || bridge_port_offloaded(egress_port))
		return 0;
	u64 updated = KGET(u64, source_entry, updated);
	s32 in = port_slot(KLOAD(u32, KADDR(struct net_device, device, ifindex)));
	s32 out = port_slot(KLOAD(u32, KADDR(struct net_device, egress, ifindex)));

	if (in < 0 || out < 0)
		return 0;
	flow_evict(flow);
	flow->source = from;
	flow->destination = to;
	flow->ingress_port = port;
	flow->egress_dev = egress;
	flow->in_slot = in;
	flow->out_slot = out;
	flow->epoch = epoch;
	flow->fresh_until = updated + bridge_refresh_age(KOBJ(struct net_bridge, bridge));
	return 1;
}

/* Whether the two cached entries are (still) those of this frame, in this port. */
INLINE u64 bridge_flow_stale(struct tna_flow *flow, const struct packet *packet, u64 port, u64 now,
			     u64 *egress_port)
{
	struct net_bridge_fdb_entry *to = KOBJ(struct net_bridge_fdb_entry, flow->destination);
	u64 word = fdb_entry_gone(to, packet->destination, FDB_LOCAL);

	*egress_port = KGET(u64, to, dst);
	struct net_bridge_fdb_entry *from = KOBJ(struct net_bridge_fdb_entry, flow->source);

	COLLECT(word, fdb_entry_gone(from, packet->source, FDB_LOCAL | FDB_NOTIFY_INACTIVE));
	COLLECT(word, KGET(u64, from, dst) ^ port);
	COLLECT(word, now > flow->fresh_until);
	COLLECT(word, flow->ingress_port ^ port);
	COLLECT(word, flow->epoch ^ home.epoch);
	return word;
}

/* For namespaces with packet sockets: whether one of them captures these frames. */
NOINLINE u64 bridge_captured(u64 ingress, u64 egress)
{
	return guard_capture_namespace(CONSTANT(NET), KOBJ(struct net, CONSTANT(NET))) |
	       guard_capture_device(ingress, KOBJ(struct net_device, ingress)) |
	       guard_capture_device(egress, KOBJ(struct net_device, egress));
}

/* The verdict: XDP_REDIRECT, or XDP_PASS with the frame untouched. */
INLINE int bridge_forward(struct xdp_md *ctx)
{
	struct packet packet;

	if (!packet_parse(ctx, &packet))
		return XDP_PASS;
	struct tna_flow *flow = flow_slot(packet.destination, packet.source);

	if (!flow)
		return XDP_PASS;
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);
	u64 word = xdp->flags & XDP_BUFF_HAS_FRAGS;
	u64 device = ingress_device(xdp);
	u64 buffer = CONSTANT(VETH) ? sender_buffer(xdp) : 0;

	struct net_device *ingress = KOBJ(struct net_device, device);
	u64 port = KGET(u64, ingress, rx_handler_data);

	u64 tc = guard_tc_ingress(ingress);

	if (tc)
		COLLECT(word, guard_tc_entry_busy(tc));
	COLLECT(word, guard_netdev_ingress(ingress));
	if (packet.protocol != bpf_htons(ETH_P_IP) && packet.protocol != bpf_htons(ETH_P_IPV6)) {
		u32 protocol = packet.protocol;

		if (is_vlan(protocol)) {
			COLLECT(word, bridge_tagged_to_vlan_device(ingress));
			protocol = packet_inner_protocol(ctx);
		}
		COLLECT(word, bridge_protocol_is_special(protocol));
	}

	struct net_bridge_port *in = KOBJ(struct net_bridge_port, port);
	u64 bridge_address = KGET(u64, in, br);
	u64 in_flags = KGET(u64, in, flags);

	COLLECT(word, bridge_port_flags(in));
	COLLECT(word, bridge_port_state(in));

	struct net_bridge *bridge = KOBJ(struct net_bridge, bridge_address);
	COLLECT(word, bridge_options(bridge));
	COLLECT(word, bridge_promisc(bridge_address, bridge));

	struct net *net = KOBJ(struct net, CONSTANT(NET));

	u64 capture = guard_capture_possible(net);
	u64 hooks = guard_bridge_hooks(net, &home);

	if (hooks)
		COLLECT(word, bridge_hooks_revalidate(&home));
	if (CONSTANT(BR_NETFILTER))
		COLLECT(word, guard_br_netfilter(CONSTANT(BRNF)));

	u64 egress_port, now = bpf_jiffies64();

	if (bridge_flow_stale(flow, &packet, port, now, &egress_port)) {
		if (!bridge_fill(flow, device, packet.destination, packet.source))
			return XDP_PASS;
		if (bridge_flow_stale(flow, &packet, port, now, &egress_port))
			return XDP_PASS;
	}

	struct net_bridge_port *out = KOBJ(struct net_bridge_port, egress_port);
	u64 egress_address = KGET(u64, out, dev);
	u64 out_flags = KGET(u64, out, flags);

	COLLECT(word, port == egress_port);
	COLLECT(word, KGET(u64, out, br) ^ bridge_address);
	COLLECT(word, out_flags & (~(u64)(PORT_HARMLESS | PORT_LEARNING) | (in_flags & PORT_ISOLATED)));
	COLLECT(word, bridge_port_state(out));

	struct net_device *egress = KOBJ(struct net_device, egress_address);

	COLLECT(word, egress_address ^ flow->egress_dev);
	if (guard_egress_hooks(egress)) {
		COLLECT(word, guard_tc_entry_busy(guard_tc_egress(egress)));
		COLLECT(word, guard_netdev_egress(egress));
	}
	if (capture)
		COLLECT(word, bridge_captured(device, egress_address));
	COLLECT(word, guard_egress_redirect(egress));
	COLLECT(word, guard_egress_down(egress));
	COLLECT(word, guard_egress_mtu(egress, packet.len));
	u64 queue = guard_egress_qdisc(egress);

	if (queue)
		COLLECT(word, guard_egress_qdisc_list(egress_address));
	if (buffer)
		COLLECT(word, guard_unfinished_checksum(buffer) | guard_hidden_tag(buffer));
	if (word)
		return XDP_PASS;
	flow->packets++;
	flow->bytes += packet.len;
	return bpf_redirect_map(&egress_ports, flow->out_slot, XDP_PASS);
}

#endif
