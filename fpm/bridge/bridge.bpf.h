/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BRIDGE_H
#define TNA_BRIDGE_H

/*
 * Known unicast between two ports of a bridge. See README.md beside this file for what is accelerated
 * and what is left to Linux.
 *
 * The decision is made twice. bridge_forward() proves for every frame, in place, that what the flow
 * cache remembers still holds and that nothing objects: a straight line, all tests collected in two
 * words, doubt and what deserves a closer look. Where the cache knows nothing, bridge_find() looks for
 * what there is to prove. What cannot be proved is evaluated from nothing by bridge_evaluate().
 */

#include "base/send.bpf.h"
#include "bridge/check.bpf.h"

/*
 * Conditions that are harmless more often than not, for the ports that have them: filters that run
 * nothing, captures elsewhere, plain queues, a local sender's finished frame, an uncommon protocol.
 */
NOINLINE u64 bridge_objection(hook_context *ctx, u64 device, u64 egress_address)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u64 buffer = CONSTANT(VETH) ? hook_sender_buffer(hook_kernel_buffer(ctx)) : 0;
	struct packet packet;

	if (!packet_parse(ctx, &packet))
		return 1;
	u64 word = guard_tc_port_busy(KOBJ(struct net_device, device)) |
		   bridge_tagged_to_vlan_device(packet.protocol, KOBJ(struct net_device, device)) |
		   bridge_frame_is_special(ctx, packet.protocol);

	if (!HOOK_WITHIN_LINUX)
		word |= guard_devices(CONSTANT(NET), device, egress_address, 0);
	if (!HOOK_WITHIN_LINUX && guard_capture_possible(net))
		word |= guard_capture_namespace(CONSTANT(NET), net);
	if (!OWN_RULES && guard_bridge_hooks(net, &home))
		word |= bridge_hooks_revalidate(&home);
	if (buffer)
		word |= guard_unfinished_checksum(buffer) | guard_hidden_tag(buffer) |
			guard_sender_marks(buffer);
	return word;
}

/* Out of the port that the flow remembers, with the tag that the frame is to have there. */
INLINE int bridge_send(hook_context *ctx, struct tna_flow *flow, u32 len, u64 retag)
{
	const struct departure departure = {
		.in = &flow->in_slot,
		.out = flow->out_slot,
		.length = len,
		.packets = &flow->packets,
		.bytes = &flow->bytes,
		.device = &flow->egress_dev,
		.retag = retag,
		.vlan_protocol = CONSTANT(VLAN),
	};

	return send(ctx, &departure);
}

/* For a frame that is not to be sent; what is called invalid is dropped, where the rules drop it. */
INLINE int bridge_refuse(hook_context *ctx, u32 reason)
{
	struct packet packet;

	if (BRIDGE_RULES && reason == TNA_REASON_FLOW_WINDOW && packet_parse(ctx, &packet) &&
	    connection_drops(reason, packet.protocol == bpf_htons(ETH_P_IPV6) ? 6 : 4))
		return drop_as_linux(ctx, reason);
	return leave_to_linux(ctx, reason);
}

/* Nothing is against the frame but, perhaps, rules; they are asked for each frame. */
NOINLINE int bridge_send_permitted(hook_context *ctx, struct tna_flow *flow, u64 retag)
{
	u64 port = flow->ingress_port, bridge = KLOAD(u64, KADDR(struct net_bridge_port, port, br));
	struct packet packet;

	if (OWN_RULES && guard_bridge_hooks(KOBJ(struct net, CONSTANT(NET)), &home)) {
		if (!packet_parse(ctx, &packet))
			return HOOK_TO_LINUX;
		u32 reason = evaluate_own_rules(
			ctx, packet.protocol, KLOAD(u64, KADDR(struct net_bridge_port, port, dev)),
			flow->egress_dev, bridge_device(bridge, KOBJ(struct net_bridge, bridge)));

		if (reason != REASON_NONE)
			return leave_to_linux(ctx, reason);
	}
	if (bridge_rules_called()) {
		if (!packet_parse(ctx, &packet))
			return HOOK_TO_LINUX;
		u32 reason = evaluate_bridged_rules(
			ctx, packet.protocol, bridge_device(bridge, KOBJ(struct net_bridge, bridge)),
			KLOAD(u64, KADDR(struct net_bridge_port, port, dev)), flow->egress_dev);

		if (reason != REASON_NONE)
			return bridge_refuse(ctx, reason);
	}
	return bridge_send(ctx, flow, packet_length(ctx), retag);
}

/*
 * For a frame that could not be proved, or that deserves a closer look; it need not be slow. The verdict
 * is doubt; where VLANs are filtered, what becomes of the tag lies in its lowest bits.
 */
NOINLINE int bridge_second_look(hook_context *ctx, struct tna_flow *flow, u64 device, u64 egress, u64 verdict)
{
	u32 reason = REASON_NONE;
	u64 retag = 0;

	if (CONSTANT(VLAN)) {
		retag = verdict & RETAG_MASK;
		verdict &= ~RETAG_MASK;
	}
	if (verdict || bridge_objection(ctx, device, egress)) {
		retag = bridge_evaluate(ctx, flow);
		reason = retag;
		retag = evaluated_retag(retag);
	}
	if (reason != REASON_NONE)
		return leave_to_linux(ctx, reason);
	return flow ? bridge_send_permitted(ctx, flow, retag) : HOOK_TO_LINUX;
}

#define BRIDGE_DOUBT (1ULL << 63)

/* For a frame that was to be evaluated as well, with what becomes of its tag. */
NOINLINE int bridge_send_checked(hook_context *ctx, struct tna_flow *flow, u64 retag, u32 reason)
{
	return reason == REASON_NONE ? bridge_send_permitted(ctx, flow, retag) : leave_to_linux(ctx, reason);
}

/* The check is not a part of the second look: one from within the other would need too much stack. */
INLINE int bridge_look_again(hook_context *ctx, struct tna_flow *flow, u64 device, u64 egress, u64 doubt,
			     u64 retag)
{
	if (!doubt && self_check_due(flow->packets)) {
		doubt = bridge_objection(ctx, device, egress);
		if (!doubt)
			return bridge_send_checked(ctx, flow, retag & RETAG_MASK,
						   bridge_check(ctx, flow, retag));
	}
	if (CONSTANT(VLAN))
		doubt = (doubt ? BRIDGE_DOUBT : 0) | (retag & RETAG_MASK);
	return bridge_second_look(ctx, flow, device, egress, doubt);
}

/* Where VLANs are filtered, besides verdicts: a closer look is needed, or there is doubt; above it, what
 * becomes of the tag, and the flow's place. */
#define FILTERED_LOOK 16
#define FILTERED_DOUBT 32
#define FILTERED_RETAG_SHIFT 8

INLINE u64 filtered_verdict(u32 index, u64 doubt, u64 retag)
{
	return (u64)index << 32 | (retag & RETAG_MASK) << FILTERED_RETAG_SHIFT |
	       (doubt ? FILTERED_DOUBT : 0) | FILTERED_LOOK;
}

/* 0 for the protocols that fill networks. */
INLINE u64 bridge_protocol_unusual(u32 protocol)
{
	return (protocol ^ bpf_htons(ETH_P_IP)) * (protocol ^ bpf_htons(ETH_P_IPV6));
}

/* The same of what is behind a tag of the bridge's own kind. */
INLINE u64 vlan_protocol_unusual(const struct packet *packet, u64 tag)
{
	u32 other = (packet->protocol ^ packet->inner) & -(u32)(tag / VLAN_TAGGED);

	return bridge_protocol_unusual(packet->protocol ^ other);
}

/*
 * HOOK_SENT, or HOOK_TO_LINUX with the frame untouched; where VLANs are filtered, or what filtered_verdict()
 * says. `vlans` is known when this is compiled: a bridge that does not filter VLANs has nothing of what one
 * that does needs.
 */
INLINE u64 bridge_prove(hook_context *ctx, const int vlans)
{
	struct packet packet;

	if (unlikely(!packet_parse(ctx, &packet)) || (vlans && !VLAN_KNOWN))
		return vlans ? filtered_verdict(NOWHERE, 1, 0)
			     : bridge_second_look(ctx, NULL, 0, 0, BRIDGE_DOUBT);
	if (vlans)
		packet.len = packet_length(ctx);
	u64 tag = vlans ? vlan_tag(&packet, CONSTANT(VLAN)) : 0, vlan_key = 0, retag = 0;
	u32 hash = flow_hash(packet.destination, packet.source);
	u32 index = flow_place(hash, tag & VLAN_ID);

	if (unlikely(index >= FLOWS_TOTAL))
		return HOOK_TO_LINUX;
	struct tna_flow *flow = flow_at(index);
	u64 other = flow->mark ^ flow_mark(hash, home.epoch);

	RARELY(other, "!= 0", another_pair);
known:;
	hook_buffer *buffer = hook_kernel_buffer(ctx);
	u64 doubt = ((flow->fresh_until - bpf_jiffies64()) >> 63) | hook_frame_unfit(ctx, buffer);
	u64 closer = vlans ? vlan_protocol_unusual(&packet, tag) : bridge_protocol_unusual(packet.protocol);
	u64 device = hook_ingress_device(buffer);

	COLLECT(doubt, hook_frame_differs(ctx, buffer));
	COLLECT(closer, self_check_due(flow->packets));
	WHEN(VETH) COLLECT(closer, hook_sender_buffer(buffer));

	struct net_device *ingress = KOBJ(struct net_device, device);
	u64 port = KGET(u64, ingress, rx_handler_data);

	if (vlans) {
		COLLECT(doubt, vlan_foreign_beside(ctx));
		COLLECT(closer, bridge_vlan_devices(ingress) & -(tag / VLAN_TAGGED));
		retag = vlan_complete(tag, vlan_pvid(KOBJ(struct net_bridge_port, port)));
		vlan_key = (retag & VLAN_ID) << 48;
	}
	COLLECT(closer, guard_tc_port(ingress));
	COLLECT(doubt, guard_netdev_ingress(ingress));
	COLLECT(doubt, flow->ingress_port ^ port);

	struct net_bridge_fdb_entry *from = KOBJ(struct net_bridge_fdb_entry, flow->source);

	COLLECT(doubt, fdb_entry_gone(from, packet.source | vlan_key, FDB_LOCAL | FDB_NOTIFY_INACTIVE));
	COLLECT(doubt, KGET(u64, from, dst) ^ port);

	struct net_bridge_fdb_entry *to = KOBJ(struct net_bridge_fdb_entry, flow->destination);
	u64 egress_port = KGET(u64, to, dst);

	COLLECT(doubt, fdb_entry_gone(to, packet.destination | vlan_key, FDB_LOCAL));
	COLLECT(doubt, ((port ^ egress_port) - 1) >> 63); /* the same, without a branch */

	if (vlans) {
		struct tna_flow_vlans *part = flow_vlans_at(index);
		struct net_bridge_vlan *in_vlan = KOBJ(struct net_bridge_vlan, part->ingress);
		struct net_bridge_vlan *out_vlan = KOBJ(struct net_bridge_vlan, part->egress);
		u64 settings = vlan_settings(out_vlan);

		COLLECT(doubt, vlan_gone(in_vlan, port));
		COLLECT(doubt, vlan_state(vlan_settings(in_vlan), retag & VLAN_ID));
		COLLECT(doubt, vlan_gone(out_vlan, egress_port));
		COLLECT(doubt, vlan_state(settings, retag & VLAN_ID));
		retag = vlan_retag(tag, retag, vlan_untagged(settings));
	}

	struct net_bridge_port *in = KOBJ(struct net_bridge_port, port);
	struct net_bridge_port *out = KOBJ(struct net_bridge_port, egress_port);
	u64 in_flags = KGET(u64, in, flags);
	u64 bridge_address = KGET(u64, in, br);

	COLLECT(doubt, bridge_port_flags(in_flags));
	COLLECT(doubt, bridge_egress_flags(out, in_flags));
	COLLECT(doubt, bridge_port_state(in));
	COLLECT(doubt, bridge_port_state(out));
	COLLECT(doubt, KGET(u64, out, br) ^ bridge_address);
	u64 egress_address = KGET(u64, out, dev);

	COLLECT(doubt, egress_address ^ flow->egress_dev);

	struct net_bridge *bridge = KOBJ(struct net_bridge, bridge_address);

	COLLECT(doubt, bridge_options(bridge, vlans));
	COLLECT(doubt, bridge_promisc(bridge_address, bridge));

	struct net *net = KOBJ(struct net, CONSTANT(NET));

	if (!HOOK_WITHIN_LINUX)
		COLLECT(closer, guard_capture_possible(net));
	COLLECT(closer, guard_bridge_hooks(net, &home));
	if (CONSTANT(BR_NETFILTER)) {
		u64 called = guard_br_netfilter(CONSTANT(BRNF));

		COLLECT(closer, BRIDGE_RULES ? called : 0);
		COLLECT(doubt, BRIDGE_RULES ? 0 : called);
	}

	struct net_device *egress = KOBJ(struct net_device, egress_address);

	if (HOOK_WITHIN_LINUX)
		COLLECT(doubt, guard_netdev_egress(egress) | guard_peer_generic_xdp(egress_address) |
				       guard_below(egress_address, 0));
	else
		COLLECT(closer, guard_egress_hooks(egress));
	COLLECT(doubt, guard_egress_redirect(egress));
	COLLECT(doubt, guard_egress_down(egress));
	if (!hook_is_several(ctx))
		COLLECT(doubt, guard_egress_mtu(egress, retag_length(packet.len, retag)));
	if (!HOOK_WITHIN_LINUX) {
		COLLECT(doubt, shorter_than_all(retag_length(packet.len, retag)));
		COLLECT(closer, guard_egress_qdisc(egress));
	}

	RARELY(doubt | closer, "!= 0", look_again);
	return bridge_send(ctx, flow, packet.len, retag);
another_pair:
	if (bridge_find(ctx, flow))
		goto known;
	return vlans ? filtered_verdict(index, 1, 0) : bridge_second_look(ctx, flow, 0, 0, BRIDGE_DOUBT);
look_again:
	return vlans ? filtered_verdict(index, doubt, retag)
		     : bridge_look_again(ctx, flow, device, egress_address, doubt, 0);
}

/* Apart from the other: what one of them needs is not to be in the way of the other. */
NOINLINE u64 bridge_prove_filtered(hook_context *ctx)
{
	return bridge_prove(ctx, 1);
}

/* What follows is not a part of it either: one from within the other would need too much stack. */
NOINLINE int bridge_look_again_filtered(hook_context *ctx, u64 verdict)
{
	u32 index = verdict >> 32;
	struct tna_flow *flow;

	if (index >= FLOWS_TOTAL)
		return bridge_second_look(ctx, NULL, 0, 0, BRIDGE_DOUBT);
	flow = flow_at(index);
	return bridge_look_again(ctx, flow, hook_ingress_device(hook_kernel_buffer(ctx)), flow->egress_dev,
				 verdict & FILTERED_DOUBT, verdict >> FILTERED_RETAG_SHIFT);
}

INLINE int bridge_forward(hook_context *ctx)
{
	if (likely(!CONSTANT(VLAN)))
		return bridge_prove(ctx, 0);
	u64 verdict = bridge_prove_filtered(ctx);

	return likely(verdict < FILTERED_LOOK) ? verdict : bridge_look_again_filtered(ctx, verdict);
}

#endif
