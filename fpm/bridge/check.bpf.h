/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BRIDGE_CHECK_H
#define TNA_BRIDGE_CHECK_H

/* A frame that the straight line would send is evaluated as well: base/self_check.bpf.h. */

#include "bridge/find.bpf.h"

/* What the evaluation finds; no room on the stack, which is short under older kernels. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_flow);
} checked_flow SEC(".maps");

/* What time or the table of ports says a moment later to one than to the other. */
INLINE int check_explained(u32 reason)
{
	return reason == TNA_REASON_SOURCE_AGED || reason == TNA_REASON_EGRESS_UNMANAGED ||
	       reason == TNA_REASON_UNKNOWN_PORT;
}

INLINE void check_describe(hook_context *ctx, const struct tna_flow *flow, const struct tna_flow *sure,
			   u32 reason)
{
	struct tna_disagreement *found = self_check_pause(TNA_CHECKED_BRIDGE);
	struct packet packet;

	if (!found || !packet_parse(ctx, &packet))
		return;
	found->family = 0;
	found->arrival = hook_ingress_ifindex(ctx);
	found->from[0] = packet.source;
	found->to[0] = packet.destination;
	found->ours.ifindex = KLOAD(u32, KADDR(struct net_device, flow->egress_dev, ifindex));
	found->kernel.ifindex =
		reason == REASON_NONE ? KLOAD(u32, KADDR(struct net_device, sure->egress_dev, ifindex)) : 0;
	found->reason = reason;
}

/*
 * A reason to leave the frame to Linux after all; or none. What the flow remembers stays as it is: what it
 * gets wrong is to be seen again.
 */
NOINLINE u32 bridge_check(hook_context *ctx, const struct tna_flow *flow, u64 retag)
{
	u64 key = flow->mark | 1ULL << 32;
	u32 zero = 0;
	struct tna_flow *sure = bpf_map_lookup_elem(&checked_flow, &zero);

	if (!sure)
		return TNA_REASON_SELF_CHECK;
	*sure = (struct tna_flow){};
	u64 evaluated = bridge_evaluate(ctx, sure), other = evaluated_retag(evaluated);
	u32 reason = evaluated;

	if (reason == REASON_NONE && sure->egress_dev == flow->egress_dev &&
	    sure->out_slot == flow->out_slot &&
	    !((retag | other) & RETAG_ANY && (retag ^ other) & RETAG_MASK)) {
		self_check_trust(key);
		return REASON_NONE;
	}
	if (check_explained(reason))
		return reason;
	if (self_check_lasts(key))
		check_describe(ctx, flow, sure, reason);
	return reason == REASON_NONE ? TNA_REASON_SELF_CHECK : reason;
}

#endif
