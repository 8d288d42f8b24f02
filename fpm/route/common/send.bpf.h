/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_COMMON_SEND_H
#define TNA_ROUTE_COMMON_SEND_H

/* How a packet of either protocol leaves. */

#include "base/send.bpf.h"
#include "base/state.bpf.h"
#include "route/common/marks.bpf.h"

/* Out of the port that the route remembers, with the tags that the frame is to have there instead of its old
 * ones. */
INLINE int route_send(hook_context *ctx, struct tna_route *route, u64 frame_len, u64 total, u64 old_tags,
		      u64 tags, int version)
{
	const struct departure departure = {
		.in = &route->in_slot,
		.out = route->out_slot,
		.length = total + ETH_HLEN,
		.packets = &route->packets,
		.bytes = &route->bytes,
		.device = &route->egress_dev,
		.routed = version,
		.destination = &route->destination,
		.source = &route->source,
		.old_tags = old_tags,
		.tags = tags,
		.behind = frame_len - total - ETH_HLEN,
		.above = &route->above,
		.translation = CONSTANT(RULES) ? translation_of_packet() : NULL,
		.marked = HOOK_WITHIN_LINUX ? marks_noted() : NULL,
	};

	return send(ctx, &departure);
}

#endif
