/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_STACK_BRIDGE_H
#define TNA_ROUTE_STACK_BRIDGE_H

/*
 * Packets that Linux routes to or from a bridge: the frame comes in by one of its ports, addressed to the
 * bridge itself (br_pass_frame_up()), or leaves by the port behind which the next hop is known
 * (br_dev_xmit()).
 */

#include "bridge/evaluate.bpf.h"
#include "bridge/rules.bpf.h"
#include "guards/generic_xdp.bpf.h"
#include "route/stack/bridge_vlan.bpf.h"

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

/*
 * What a bridge hands to the host passes the rules of pre-routing at the bridge already, if br_netfilter
 * calls them, and then not again (ip_sabotage_in()); the other rules know by which port it came. What a
 * router gives to a bridge is none of its business. Whether frames with tags are is decided by other
 * settings.
 */
INLINE u64 bridge_calls_for_host(u64 tags)
{
	if (!CONSTANT(BR_NETFILTER))
		return 0;
	u64 called = guard_br_netfilter(CONSTANT(BRNF));

	return BRIDGE_RULES && !tags ? 0 : called;
}

/* The port that rules see besides the bridge, as which device a packet comes; 0: they see none. */
INLINE u64 calling_port(hook_context *ctx, const int version)
{
	u64 brnf = CONSTANT(BRNF);

	if (!CONSTANT(BRIDGE) || !BRIDGE_RULES)
		return 0;
	if (!KLOAD(u32, version == 6 ? KADDR(struct brnf_net, brnf, call_ip6tables)
				     : KADDR(struct brnf_net, brnf, call_iptables)))
		return 0;
	return hook_ingress_device(hook_kernel_buffer(ctx));
}

/*
 * The proof that a bridge still hands this frame to the host; each frame proves it again. The bridge's device
 * is found on the way, and which tag the frame has then.
 */
INLINE u64 bridged_arrival(const struct tna_route_stack *part, struct net *net, struct net_device *ingress,
			   const struct packet *packet, u32 *tag, u64 *device)
{
	u64 port = KGET(u64, ingress, rx_handler_data);
	struct net_bridge_port *in = KOBJ(struct net_bridge_port, port);
	struct net_bridge_fdb_entry *from = KOBJ(struct net_bridge_fdb_entry, part->source);
	u64 address = KGET(u64, in, br), word = (part->fresh_until - bpf_jiffies64()) >> 63, vlan = 0;
	struct net_bridge *bridge = KOBJ(struct net_bridge, address);

	if (BRIDGE_VLANS) {
		COLLECT(word, bridge_vlan_devices(ingress) & -(u64) !!*tag);
		if (CONSTANT(VLAN))
			COLLECT(word, filtered_arrival(part, port, packet, tag, &vlan));
		COLLECT(word, (*tag ^ part->arrival_tag) & TAG_IDENTITY);
	}
	COLLECT(word, fdb_entry_gone(from, packet->source | vlan, FDB_LOCAL | FDB_NOTIFY_INACTIVE));
	COLLECT(word, KGET(u64, from, dst) ^ port);
	COLLECT(word,
		bridged_not_own(KOBJ(struct net_bridge_fdb_entry, part->own), packet->destination | vlan));
	COLLECT(word, bridge_port_flags(KGET(u64, in, flags)));
	COLLECT(word, bridge_port_state(in));
	COLLECT(word, bridge_options(bridge, !!CONSTANT(VLAN)));
	COLLECT(word, guard_bridge_host_hooks(net));
	COLLECT(word, bridge_calls_for_host(*tag));
	COLLECT(word, bridge_promisc(address, bridge));
	*device = bridge_device(address, bridge);
	COLLECT(word, guard_generic_xdp(*device));
	return word;
}

/* What a frame meets where it leaves a device on top of others; the rest is for a closer look. */
INLINE u64 prove_above(u64 device, u64 *closer)
{
	struct net_device *above = KOBJ(struct net_device, device);
	u64 word = guard_egress_down(above), queue = guard_egress_qdisc(above);

	COLLECT(*closer, guard_egress_hooks(above));
	COLLECT(*closer, queue);
	COLLECT(word, HOOK_WITHIN_LINUX ? queue : 0); /* which sees more there than at a router */
	COLLECT(word, guard_several_queues(above));
	return word;
}

/* The proof that a bridge still gets this frame, itself or from a VLAN device on top; with which tag. */
INLINE u64 bridge_handed(u64 departure, u64 bridge_device, u32 *tag, u64 *closer)
{
	if (departure == bridge_device)
		return 0;
	u64 word = vlan_departure(departure, bridge_device);

	COLLECT(word, !device_is_vlan(departure));
	COLLECT(word, prove_above(bridge_device, closer));
	*tag = vlan_device_tag(departure);
	return word;
}

/* The proof that a bridge still sends this frame out by this port, with this tag. */
INLINE u64 bridged_departure(const struct tna_route_stack *part, struct net *net, u64 next_hop, u64 egress,
			     u64 *closer)
{
	struct net_bridge_fdb_entry *to = KOBJ(struct net_bridge_fdb_entry, part->destination);
	u64 port = KGET(u64, to, dst), vlan = 0;
	struct net_bridge_port *out = KOBJ(struct net_bridge_port, port);
	u64 address = KGET(u64, out, br), word = 0;
	struct net_bridge *bridge = KOBJ(struct net_bridge, address);
	u64 device = bridge_device(address, bridge);

	if (BRIDGE_VLANS) {
		u32 tag = 0;

		COLLECT(word, bridge_handed(part->departure, device, &tag, closer));
		if (part->out_vlan)
			COLLECT(word, filtered_departure(part, bridge, port, &tag, &vlan));
		COLLECT(word, tag ^ part->tag);
		COLLECT(word, departure_options(bridge, part->out_vlan));
	} else {
		COLLECT(word, device ^ part->departure);
		COLLECT(word, bridge_options(bridge, 0));
	}
	COLLECT(word, fdb_entry_gone(to, (next_hop & MAC_MASK) | vlan, FDB_LOCAL));
	COLLECT(word, KGET(u64, out, dev) ^ egress);
	COLLECT(word, bridge_port_state(out));
	COLLECT(word, bridge_egress_flags(out, 0));
	COLLECT(word, guard_bridge_host_hooks(net));
	return word;
}

INLINE u32 evaluate_bridge_settings(u64 address, u64 filters)
{
	struct net_bridge *bridge = KOBJ(struct net_bridge, address);

	BECAUSE(departure_options(bridge, filters), BRIDGE_OPTIONS);
	BECAUSE(bridge_hooks_revalidate(&home), NETFILTER);
	BECAUSE(guard_bridge_host_hooks(KOBJ(struct net, CONSTANT(NET))), NETFILTER);
	return REASON_NONE;
}

/*
 * How a frame came in by a bridge's port. What is remembered of it is written at once: whatever packet finds
 * it there proves it.
 */
NOINLINE u32 evaluate_bridged_arrival(hook_context *ctx, struct tna_route_stack *part)
{
	hook_buffer *buffer = hook_kernel_buffer(ctx);
	struct bridge_path path = {.device = hook_ingress_device(buffer)};
	struct packet packet;

	BECAUSE(!packet_parse(ctx, &packet), SHORT);
	UNLESS_BECAUSE(evaluate_ingress(&path, CONSTANT(VETH) ? hook_sender_buffer(buffer) : 0));
	path.port = KLOAD(u64, KADDR(struct net_device, path.device, rx_handler_data));
	path.bridge = KLOAD(u64, KADDR(struct net_bridge_port, path.port, br));
	UNLESS_BECAUSE(evaluate_bridge(&path, 0));
	BECAUSE(bridge_calls_for_host(packet_tags(ctx, 1)), BR_NETFILTER);
	BECAUSE(guard_bridge_host_hooks(KOBJ(struct net, CONSTANT(NET))), NETFILTER);
	UNLESS_BECAUSE(evaluate_frame(ctx, &packet, path.device));
	if (BRIDGE_VLANS && CONSTANT(VLAN))
		UNLESS_BECAUSE(evaluate_vlan(&packet, &path));
	if (BRIDGE_VLANS)
		UNLESS_BECAUSE(evaluate_arrival_tag(packet_tags(ctx, 1), &path, part));
	u64 vlan = (path.tag & VLAN_ID) << 48;

	SOUGHT(path.source, fdb_find(path.bridge, packet.source | vlan), SOURCE_UNKNOWN);
	UNLESS_BECAUSE(evaluate_source(&path));
	BECAUSE(bridge_port_offloaded(path.port), SWITCHDEV);
	BECAUSE(guard_generic_xdp(port_bridge_device(KOBJ(struct net_device, path.device))), GENERIC_XDP);
	u64 own;

	SOUGHT(own, fdb_find(path.bridge, packet.destination | vlan), OTHER_STATION);
	BECAUSE(bridged_not_own(KOBJ(struct net_bridge_fdb_entry, own), packet.destination | vlan),
		OTHER_STATION);
	part->own = own;
	part->source = path.source;
	part->fresh_until = KLOAD(u64, KADDR(struct net_bridge_fdb_entry, path.source, updated)) +
			    bridge_refresh_age(KOBJ(struct net_bridge, path.bridge));
	return REASON_NONE;
}

/* How a packet goes on from the device that it is handed to. */
struct bridged_way {
	u64 egress;
	u64 station; /* the next hop's entry of the forwarding database, where there is a bridge */
	u64 vlan;    /* the egress port's part in its VLAN, where the bridge filters them */
	u64 between; /* the VLAN device under the one that it is handed to, if there are two */
	u32 tag;
};

INLINE int device_is_bridge(u64 device)
{
	return !!(BPF_CORE_READ_BITFIELD(KOBJ(struct net_device, device), priv_flags) & IFF_EBRIDGE);
}

/* By which port a bridge sends to a MAC address what it gets with this tag, which becomes the one that the
 * frame leaves with. */
INLINE u32 evaluate_bridged_departure(u64 device, u64 next_hop, struct bridged_way *way)
{
	u64 bridge = device_private(device);
	u64 filters =
		BRIDGE_VLANS && (KLOAD(u64, KADDR(struct net_bridge, bridge, options)) & OPTION_VLAN_ENABLED);
	u64 vid = filters ? departure_vlan(KOBJ(struct net_bridge, bridge), way->tag) : 0;

	BECAUSE(bridge_device(bridge, KOBJ(struct net_bridge, bridge)) != device ||
			KLOAD(u64, KADDR(struct net_bridge, bridge, dev)) != device,
		UNPROVED);
	UNLESS_BECAUSE(evaluate_bridge_settings(bridge, filters));
	SOUGHT(way->station, fdb_find(bridge, (next_hop & MAC_MASK) | vid << 48), UNKNOWN_UNICAST);
	struct net_bridge_fdb_entry *to = KOBJ(struct net_bridge_fdb_entry, way->station);
	u64 port = KGET(u64, to, dst);
	struct net_bridge_port *out = KOBJ(struct net_bridge_port, port);

	BECAUSE(KGET(u64, to, flags) & FDB_LOCAL, LOCAL);
	BECAUSE(bridge_port_state(out), EGRESS_STATE);
	BECAUSE(bridge_egress_flags(out, 0), EGRESS_FLAGS);
	BECAUSE(bridge_port_offloaded(port), SWITCHDEV);
	way->egress = KGET(u64, out, dev);
	if (filters)
		UNLESS_BECAUSE(evaluate_filtered_departure(bridge, port, vid, &way->tag, &way->vlan));
	return REASON_NONE;
}

#endif
