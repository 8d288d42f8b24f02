/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_FLOWTABLE_H
#define TNA_FLOWTABLE_H

/*
 * Packets of flows that rules have put into a flowtable (nft's `flow add`): what Linux does with them at the
 * ingress of a port, before it routes (nf_flow_offload_ip_hook(), nf_flow_offload_ipv6_hook()). See README.md
 * beside this file for what is accelerated and what is left to Linux.
 */

#include "base/send.bpf.h"
#include "flowtable/departure.bpf.h"
#include "flowtable/find.bpf.h"
#include "guards/namespace.bpf.h"
#include "guards/sender.bpf.h"

extern struct flow_offload_tuple_rhash *bpf_xdp_flow_lookup(struct xdp_md *ctx, struct bpf_fib_lookup *tuple,
							    struct bpf_flowtable_opts *opts,
							    u32 opts_len) __ksym __weak;

/* What Linux would do with a packet before netfilter sees it at ingress, and whom it would give it to else.
 */
NOINLINE u32 flow_arrival(hook_context *ctx, struct flow_way *way)
{
	hook_buffer *buffer = hook_kernel_buffer(ctx);
	u64 sender = CONSTANT(VETH) ? hook_sender_buffer(buffer) : 0, net = CONSTANT(NET);

	way->device = hook_ingress_device(buffer);
	struct net_device *device = KOBJ(struct net_device, way->device);
	s32 slot = port_slot(hook_ingress_ifindex(ctx));

	BECAUSE(slot < 0, UNKNOWN_PORT);
	way->in = slot;
	if (hook_frame_unfit(ctx, buffer))
		return HOOK_UNFIT;
	BECAUSE(hook_frame_differs(ctx, buffer), MODULE_CHANGED);
	BECAUSE(guard_namespace(device, net), NAMESPACE);
	BECAUSE(sender && guard_hidden_tag(sender), HIDDEN_TAG);
	BECAUSE(sender && guard_unfinished_checksum(sender), CHECKSUM);
	BECAUSE(sender && guard_sender_marks(sender), MARKED);
	BECAUSE(KGET(u64, device, rx_handler), STACKED);
	BECAUSE(guard_capture_device(way->device, device), CAPTURE);
	BECAUSE(guard_capture_namespace(net, KOBJ(struct net, net)), CAPTURE);
	BECAUSE(guard_capture_specific(net, way->device, device), CAPTURE);
	BECAUSE(guard_tc_arrival_busy(way->device, way->device), TC);
	return flow_parse(ctx, way, device_address(device));
}

/*
 * The kernel's own lookup, of a packet that nothing is in the way of any more: it finds the same flow, which
 * is not being torn down, and whose connection is not over, and sets its time anew.
 */
NOINLINE u32 flow_confirm(hook_context *ctx, const struct flow_way *way)
{
	struct bpf_flowtable_opts opts = {};
	struct bpf_fib_lookup tuple = {.family = way->family, .l4_protocol = way->protocol};
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);
	u8 *ports = data + FLOW_FRAME(FLOW_INET6);

	if (way->family == FLOW_INET) {
		ports = data + FLOW_FRAME(FLOW_INET);
		BECAUSE(ports + 4 > end, SHORT);
		tuple.ipv4_src = *(u32 *)(data + ETH_HLEN + 12);
		tuple.ipv4_dst = *(u32 *)(data + ETH_HLEN + 16);
	} else {
		BECAUSE(ports + 4 > end, SHORT);
		EACH (index, 4) {
			tuple.ipv6_src[index] = *(u32 *)(data + ETH_HLEN + 8 + 4 * index);
			tuple.ipv6_dst[index] = *(u32 *)(data + ETH_HLEN + 24 + 4 * index);
		}
	}
	tuple.sport = *(u16 *)ports;
	tuple.dport = *(u16 *)(ports + 2);
	tuple.ifindex = hook_ingress_ifindex(ctx);
	BECAUSE((u64)bpf_xdp_flow_lookup(ctx, &tuple, &opts, sizeof(opts)) != way->entry, FLOWTABLE_UNKNOWN);
	return REASON_NONE;
}

/* What is put into the packet (nf_flow_nat_ip()): by the other direction, the other way round. */
INLINE u32 flow_steps(const struct flow_way *way)
{
	u64 flags = KLOAD(u64, KADDR(struct flow_offload, way->flow, flags));
	u32 source = flags >> bpf_core_enum_value(enum nf_flow_flags, NF_FLOW_SNAT) & 1;
	u32 destination = flags >> bpf_core_enum_value(enum nf_flow_flags, NF_FLOW_DNAT) & 1;

	/* what the first direction's source becomes, the other one's destination was */
	if (way->entry != KADDR(struct flow_offload, way->flow, tuplehash)) {
		u32 other = source;

		source = destination;
		destination = other;
	}
	return (source ? TNA_ANOTHER_SOURCE : 0) | (destination ? TNA_ANOTHER_DESTINATION : 0);
}

/* One end of a packet as it leaves: that of the other direction, or its own. */
INLINE void flow_end(u64 address, u64 port, u32 family, __u64 *to, __u16 *to_port)
{
	to[0] = family == FLOW_INET ? KLOAD(u32, address) : KLOAD(u64, address);
	if (family != FLOW_INET)
		to[1] = KLOAD(u64, address + 8);
	*to_port = KLOAD(u16, port);
}

INLINE void flow_translation(const struct flow_way *way, u32 steps, struct tna_translation *to)
{
	u64 own = KADDR(struct flow_offload_tuple_rhash, way->entry, tuple);
	u64 other = flow_other_direction(way);

	if (steps & TNA_ANOTHER_SOURCE)
		flow_end(KADDR(struct flow_offload_tuple, other, dst_v6),
			 KADDR(struct flow_offload_tuple, other, dst_port), way->family, to->source,
			 &to->source_port);
	else
		flow_end(KADDR(struct flow_offload_tuple, own, src_v6),
			 KADDR(struct flow_offload_tuple, own, src_port), way->family, to->source,
			 &to->source_port);
	if (steps & TNA_ANOTHER_DESTINATION)
		flow_end(KADDR(struct flow_offload_tuple, other, src_v6),
			 KADDR(struct flow_offload_tuple, other, src_port), way->family, to->destination,
			 &to->destination_port);
	else
		flow_end(KADDR(struct flow_offload_tuple, own, dst_v6),
			 KADDR(struct flow_offload_tuple, own, dst_port), way->family, to->destination,
			 &to->destination_port);
	to->steps = steps;
}

NOINLINE int flow_send(hook_context *ctx, const struct flow_way *way)
{
	u32 steps = flow_steps(way);
	struct tna_translation *note = steps ? translation_note() : NULL;

	if (steps) {
		if (!note)
			return HOOK_TO_LINUX;
		flow_translation(way, steps, note);
	}
	u64 packets = 0, bytes = 0;
	const u16 in = way->in;
	const struct departure departure = {
		.in = &in,
		.out = way->out,
		.length = way->length,
		.packets = &packets,
		.bytes = &bytes,
		.device = &way->egress,
		.routed = way->family == FLOW_INET ? 4 : 6,
		.destination = &way->destination,
		.source = &way->source,
		.translation = note,
	};
	int verdict = send_now(ctx, &departure);

	if (verdict == HOOK_SENT)
		count_forwarded(way->in, way->out, 1, way->length);
	return verdict;
}

/* HOOK_SENT, or HOOK_TO_LINUX with the frame untouched. */
NOINLINE int flowtable_forward(hook_context *ctx)
{
	struct flow_way way = {};
	u32 reason = flow_arrival(ctx, &way);

	if (reason == REASON_NONE)
		reason = flow_look_up(ctx, &way);
	if (reason == REASON_NONE)
		reason = flow_route(&way);
	if (reason == REASON_NONE)
		reason = flow_departure(&way);
	if (reason == REASON_NONE)
		reason = flow_confirm(ctx, &way);
	return reason == REASON_NONE ? flow_send(ctx, &way) : leave_to_linux(ctx, reason);
}

#endif
