/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_BRIDGED_H
#define TNA_ROUTE_BRIDGED_H

/*
 * Packets that Linux routes to or from a bridge: the frame comes in by one of its ports, addressed to the
 * bridge itself (br_pass_frame_up()), or leaves by the port behind which the next hop is known
 * (br_dev_xmit()). Bridges that filter VLANs are left to Linux.
 */

#include "bridge/evaluate.bpf.h"
#include "guards/generic_xdp.bpf.h"

/* The device of the bridge that a port belongs to. */
INLINE u64 port_bridge_device(struct net_device *port)
{
	u64 address = KLOAD(u64, KADDR(struct net_bridge_port, KGET(u64, port, rx_handler_data), br));

	return bridge_device(address, KOBJ(struct net_bridge, address));
}

/* 0 if the frame is for the host: its entry is the bridge's own. */
INLINE u64 bridged_not_own(struct net_bridge_fdb_entry *entry, u64 address)
{
	u64 word = fdb_entry_gone(entry, address, 0);

	COLLECT(word, ~KGET(u64, entry, flags) & FDB_LOCAL);
	return word;
}

/* What bridges have in common, whichever way a packet takes through them. */
INLINE u64 bridged_settings(struct net *net, struct net_bridge *bridge)
{
	u64 word = bridge_options(bridge, 0);

	COLLECT(word, guard_bridge_host_hooks(net));
	WHEN(BR_NETFILTER) COLLECT(word, guard_br_netfilter(CONSTANT(BRNF)));
	return word;
}

/*
 * The proof that a bridge still hands this frame to the host; each frame proves it again. The device as
 * which the host receives it is found on the way.
 */
INLINE u64 bridged_arrival(const struct tna_route_stack *part, struct net *net, struct net_device *ingress,
			   const struct packet *packet, u64 *device)
{
	u64 port = KGET(u64, ingress, rx_handler_data);
	struct net_bridge_port *in = KOBJ(struct net_bridge_port, port);
	struct net_bridge_fdb_entry *from = KOBJ(struct net_bridge_fdb_entry, part->source);
	u64 address = KGET(u64, in, br), word = (part->fresh_until - bpf_jiffies64()) >> 63;
	struct net_bridge *bridge = KOBJ(struct net_bridge, address);

	COLLECT(word, fdb_entry_gone(from, packet->source, FDB_LOCAL | FDB_NOTIFY_INACTIVE));
	COLLECT(word, KGET(u64, from, dst) ^ port);
	COLLECT(word, bridged_not_own(KOBJ(struct net_bridge_fdb_entry, part->own), packet->destination));
	COLLECT(word, bridge_port_flags(KGET(u64, in, flags)));
	COLLECT(word, bridge_port_state(in));
	COLLECT(word, bridged_settings(net, bridge));
	COLLECT(word, bridge_promisc(address, bridge));
	*device = bridge_device(address, bridge);
	COLLECT(word, guard_generic_xdp(*device));
	return word;
}

/* The proof that a bridge still sends this frame out by this port. */
INLINE u64 bridged_departure(const struct tna_route_stack *part, struct net *net, u64 next_hop, u64 egress)
{
	struct net_bridge_fdb_entry *to = KOBJ(struct net_bridge_fdb_entry, part->destination);
	struct net_bridge_port *out = KOBJ(struct net_bridge_port, KGET(u64, to, dst));
	u64 address = KGET(u64, out, br), word = fdb_entry_gone(to, next_hop & MAC_MASK, FDB_LOCAL);
	struct net_bridge *bridge = KOBJ(struct net_bridge, address);

	COLLECT(word, bridge_device(address, bridge) ^ part->departure);
	COLLECT(word, KGET(u64, out, dev) ^ egress);
	COLLECT(word, bridge_port_state(out));
	COLLECT(word, bridge_egress_flags(out, 0));
	COLLECT(word, bridged_settings(net, bridge));
	return word;
}

INLINE u32 evaluate_bridge_settings(u64 address)
{
	struct net_bridge *bridge = KOBJ(struct net_bridge, address);

	BECAUSE(bridge_options(bridge, 0), BRIDGE_OPTIONS);
	BECAUSE(bridge_hooks_revalidate(&home), NETFILTER);
	BECAUSE(guard_bridge_host_hooks(KOBJ(struct net, CONSTANT(NET))), NETFILTER);
	BECAUSE(CONSTANT(BR_NETFILTER) && guard_br_netfilter(CONSTANT(BRNF)), BR_NETFILTER);
	return REASON_NONE;
}

/*
 * How a frame came in by a bridge's port. What is remembered of it is written at once: whatever packet finds
 * it there proves it.
 */
NOINLINE u32 evaluate_bridged_arrival(struct xdp_md *ctx, struct tna_route_stack *part)
{
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);
	struct bridge_path path = {.device = ingress_device(xdp)};
	struct packet packet;

	BECAUSE(!packet_parse(ctx, &packet), SHORT);
	UNLESS_BECAUSE(evaluate_ingress(&path, CONSTANT(VETH) ? sender_buffer(xdp) : 0));
	path.port = KLOAD(u64, KADDR(struct net_device, path.device, rx_handler_data));
	path.bridge = KLOAD(u64, KADDR(struct net_bridge_port, path.port, br));
	UNLESS_BECAUSE(evaluate_bridge(&path));
	BECAUSE(guard_bridge_host_hooks(KOBJ(struct net, CONSTANT(NET))), NETFILTER);
	UNLESS_BECAUSE(evaluate_frame(ctx, &packet, path.device));
	path.source = fdb_find(path.bridge, packet.source);
	UNLESS_BECAUSE(evaluate_source(&path));
	BECAUSE(bridge_port_offloaded(path.port), SWITCHDEV);
	BECAUSE(guard_generic_xdp(port_bridge_device(KOBJ(struct net_device, path.device))), GENERIC_XDP);
	u64 own = fdb_find(path.bridge, packet.destination);

	BECAUSE(!own || bridged_not_own(KOBJ(struct net_bridge_fdb_entry, own), packet.destination),
		OTHER_STATION);
	part->own = own;
	part->source = path.source;
	part->fresh_until = KLOAD(u64, KADDR(struct net_bridge_fdb_entry, path.source, updated)) +
			    bridge_refresh_age(KOBJ(struct net_bridge, path.bridge));
	return REASON_NONE;
}

INLINE int device_is_bridge(u64 device)
{
	return !!(BPF_CORE_READ_BITFIELD(KOBJ(struct net_device, device), priv_flags) & IFF_EBRIDGE);
}

/* By which port a bridge sends to a MAC address. */
INLINE u32 evaluate_bridged_departure(u64 device, u64 next_hop, u64 *station, u64 *egress)
{
	u64 bridge = device_private(device);

	BECAUSE(bridge_device(bridge, KOBJ(struct net_bridge, bridge)) != device ||
			KLOAD(u64, KADDR(struct net_bridge, bridge, dev)) != device,
		UNPROVED);
	UNLESS_BECAUSE(evaluate_bridge_settings(bridge));
	*station = fdb_find(bridge, next_hop & MAC_MASK);
	BECAUSE(!*station, UNKNOWN_UNICAST);
	struct net_bridge_fdb_entry *to = KOBJ(struct net_bridge_fdb_entry, *station);
	u64 port = KGET(u64, to, dst);
	struct net_bridge_port *out = KOBJ(struct net_bridge_port, port);

	BECAUSE(KGET(u64, to, flags) & FDB_LOCAL, LOCAL);
	BECAUSE(bridge_port_state(out), EGRESS_STATE);
	BECAUSE(bridge_egress_flags(out, 0), EGRESS_FLAGS);
	BECAUSE(bridge_port_offloaded(port), SWITCHDEV);
	*egress = KGET(u64, out, dev);
	return REASON_NONE;
}

#endif
