/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_COMMON_SEND_H
#define TNA_ROUTE_COMMON_SEND_H

/* How a packet of either protocol leaves. */

#include "base/state.bpf.h"
#include "packet/ipv4.bpf.h"
#include "packet/ipv6.bpf.h"

/* Notes that a packet is routed out of a port, with the tag that the frame is to have and, above it, has. */
INLINE int decision_route(hook_context *ctx, struct tna_route *route, u32 left, u64 tags, u32 version)
{
	struct tna_decision *note = decision_here();

	if (!note)
		return HOOK_TO_LINUX;
	note->slots = decision_slots(route->in_slot, route->out_slot);
	note->egress = KLOAD(u32, KADDR(struct net_device, route->egress_dev, ifindex));
	note->routed = version;
	note->left = left;
	note->retag = tags;
	note->destination = route->destination;
	note->source = route->source;
	note->forward = 1;
	return decision_compare(ctx, note, version, 1) ? HOOK_TO_LINUX : HOOK_SENT;
}

/*
 * Out of the port that the route remembers, with the tags that the frame is to have there instead of its old
 * ones. Linux cuts off what is behind the packet (the padding of a short one, pskb_trim_rcsum()). The frame
 * is changed only when nothing can fail any more.
 */
INLINE int route_send(hook_context *ctx, struct tna_route *route, u64 frame_len, u64 total, u64 old_tags,
		      u64 tags, int version)
{
	u64 behind = frame_len - total - ETH_HLEN;
	u64 destination = route->destination, source = route->source;

	WHEN(MODULES_ROUTE)
	return decision_route(ctx, route, total + ETH_HLEN, old_tags << 32 | (u32)tags, version);
	int action = hook_send(&egress_ports, route->out_slot);

	RARELY((u64)(u32)action, HOOK_IS_NOT_SENT, pass);
	if (replace_tags(ctx, old_tags, tags))
		return leave_to_linux(ctx, TNA_REASON_HEADROOM);
	RARELY(behind, "!= 0", trim);
rewrite:
	if (unlikely(!(version == 6 ? ipv6_rewrite : ipv4_rewrite)(ctx, destination, source, tags)))
		return HOOK_TO_LINUX;
	route->packets++;
	route->bytes += total + ETH_HLEN + tags_length(tags);
	return action;
trim:
	if (hook_cut_tail(ctx, behind) == 0)
		goto rewrite;
pass:
	return HOOK_TO_LINUX;
}

#endif
