/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BRIDGE_WHY_H
#define TNA_BRIDGE_WHY_H

/*
 * Why a frame was left to Linux: the tests of bridge_forward() one by one. Runs only for frames that
 * take the slow path anyway, so that the fast path need not remember which test it was.
 */

#include "bridge/bridge.bpf.h"

#define BECAUSE(test, reason)                                                                                \
	do {                                                                                                 \
		if (test)                                                                                    \
			return TNA_REASON_##reason;                                                          \
	} while (0)

INLINE u32 why_ingress(u64 device, u64 buffer)
{
	struct net_device *ingress = KOBJ(struct net_device, device);

	BECAUSE(guard_namespace(ingress, CONSTANT(NET)), NAMESPACE);
	BECAUSE(!(BPF_CORE_READ_BITFIELD(ingress, priv_flags) & IFF_BRIDGE_PORT), NOT_A_PORT);
	BECAUSE(guard_capture_device(device, ingress), CAPTURE);
	BECAUSE(guard_capture_namespace(CONSTANT(NET), KOBJ(struct net, CONSTANT(NET))), CAPTURE);
	BECAUSE(guard_tc_entry_busy(guard_tc_ingress(ingress)), TC);
	BECAUSE(guard_netdev_ingress(ingress), NETDEV_HOOK);
	BECAUSE(buffer && guard_hidden_tag(buffer), HIDDEN_TAG);
	BECAUSE(buffer && guard_unfinished_checksum(buffer), CHECKSUM);
	return TNA_REASON_COUNT;
}

INLINE u32 why_bridge(u64 port)
{
	struct net_bridge_port *in = KOBJ(struct net_bridge_port, port);
	struct net_bridge *bridge = KOBJ(struct net_bridge, KGET(u64, in, br));

	BECAUSE(bridge_options(bridge), BRIDGE_OPTIONS);
	BECAUSE(bridge_promisc(KGET(u64, in, br), bridge), BRIDGE_PROMISC);
	BECAUSE(bridge_hooks_revalidate(&home), NETFILTER);
	BECAUSE(CONSTANT(BR_NETFILTER) && guard_br_netfilter(CONSTANT(BRNF)), BR_NETFILTER);
	BECAUSE(bridge_port_state(in), PORT_STATE);
	BECAUSE(bridge_port_flags(in), PORT_FLAGS);
	return TNA_REASON_COUNT;
}

INLINE u32 why_frame(struct xdp_md *ctx, const struct packet *packet, u64 device)
{
	u32 protocol = packet->protocol;

	BECAUSE(packet->destination & MAC_MULTICAST, MULTICAST);
	BECAUSE(!packet->source || (packet->source & MAC_MULTICAST), SOURCE_INVALID);
	if (is_vlan(protocol)) {
		BECAUSE(bridge_tagged_to_vlan_device(KOBJ(struct net_device, device)), VLAN_DEVICE);
		protocol = packet_inner_protocol(ctx);
	}
	BECAUSE(bridge_protocol_is_special(protocol), PROTOCOL);
	return TNA_REASON_COUNT;
}

INLINE u32 why_source(u64 entry, u64 port, u64 bridge)
{
	struct net_bridge_fdb_entry *from = KOBJ(struct net_bridge_fdb_entry, entry);

	BECAUSE(!entry, SOURCE_UNKNOWN);
	BECAUSE(KGET(u64, from, dst) ^ port, SOURCE_UNKNOWN);
	BECAUSE(KGET(u64, from, flags) & (FDB_LOCAL | FDB_LOCKED), SOURCE_INVALID);
	BECAUSE(KGET(u64, from, flags) & FDB_NOTIFY_INACTIVE, SOURCE_AGED);
	BECAUSE(bpf_jiffies64() - KGET(u64, from, updated) > bridge_refresh_age(KOBJ(struct net_bridge, bridge)),
		SOURCE_AGED);
	return TNA_REASON_COUNT;
}

INLINE u32 why_egress(u64 port, u64 egress_port, u32 len)
{
	struct net_bridge_port *in = KOBJ(struct net_bridge_port, port);
	struct net_bridge_port *out = KOBJ(struct net_bridge_port, egress_port);
	u64 in_flags = KGET(u64, in, flags), out_flags = KGET(u64, out, flags);
	u64 address = KGET(u64, out, dev);

	BECAUSE(port == egress_port, SAME_PORT);
	BECAUSE(bridge_port_state(out), EGRESS_STATE);
	BECAUSE(bridge_egress_flags(out), EGRESS_FLAGS);
	BECAUSE(in_flags & out_flags & PORT_ISOLATED, ISOLATED);
	struct net_device *egress = KOBJ(struct net_device, address);

	BECAUSE(guard_capture_device(address, egress), CAPTURE);
	BECAUSE(guard_tc_entry_busy(guard_tc_egress(egress)), TC);
	BECAUSE(guard_netdev_egress(egress), NETDEV_HOOK);
	BECAUSE(guard_egress_down(egress), EGRESS_DOWN);
	BECAUSE(guard_egress_mtu(egress, len), EGRESS_MTU);
	BECAUSE(guard_egress_qdisc(egress) && guard_egress_qdisc_list(address), EGRESS_QDISC);
	BECAUSE(port_slot(KLOAD(u32, KADDR(struct net_device, address, ifindex))) < 0, EGRESS_UNMANAGED);
	BECAUSE(guard_egress_redirect(egress), EGRESS_REDIRECT);
	BECAUSE(bridge_port_offloaded(port) || bridge_port_offloaded(egress_port), SWITCHDEV);
	return TNA_REASON_COUNT;
}

INLINE u32 why_stations(const struct packet *packet, u64 port)
{
	u64 bridge = KLOAD(u64, KADDR(struct net_bridge_port, port, br));
	u64 to = fdb_find(bridge, packet->destination);
	u32 reason = why_source(fdb_find(bridge, packet->source), port, bridge);

	if (reason != TNA_REASON_COUNT)
		return reason;
	BECAUSE(!to, UNKNOWN_UNICAST);
	BECAUSE(KLOAD(u64, KADDR(struct net_bridge_fdb_entry, to, flags)) & FDB_LOCAL, LOCAL);
	return why_egress(port, KLOAD(u64, KADDR(struct net_bridge_fdb_entry, to, dst)), packet->len);
}

NOINLINE u32 bridge_why(struct xdp_md *ctx)
{
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);
	struct packet packet;

	BECAUSE(!packet_parse(ctx, &packet), SHORT);
	BECAUSE(xdp->flags & XDP_BUFF_HAS_FRAGS, FRAGMENTED);
	u64 buffer = CONSTANT(VETH) ? sender_buffer(xdp) : 0;
	u64 device = ingress_device(xdp);
	u32 reason = why_ingress(device, buffer);

	if (reason != TNA_REASON_COUNT)
		return reason;
	u64 port = KLOAD(u64, KADDR(struct net_device, device, rx_handler_data));

	reason = why_bridge(port);
	if (reason == TNA_REASON_COUNT)
		reason = why_frame(ctx, &packet, device);
	if (reason == TNA_REASON_COUNT)
		reason = why_stations(&packet, port);
	return reason == TNA_REASON_COUNT ? TNA_REASON_TRANSIENT : reason;
}

#endif
