/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_PERMIT_H
#define TNA_CONNECTION_PERMIT_H

/*
 * Whether the rules, and connection tracking, would let a packet pass: Linux has let an earlier one of the
 * same flow pass, and nothing that this depended on is different.
 */

#include "base/constant.bpf.h"
#include "connection/lesson.bpf.h"
#include "connection/rules.bpf.h"
#include "connection/segment.bpf.h"
#include "connection/tracked.bpf.h"

/* nf_conntrack_checksum: whether Linux looks at checksums at all. */
INLINE u32 checksum_matters(u64 net)
{
	return KLOAD(u8, KADDR(struct net, net, ct.sysctl_checksum));
}

/* The device to which Linux hands the packet, by address; else a reason for which it is Linux's. */
NOINLINE u64 connection_permit(hook_context *ctx)
{
	u64 net = CONSTANT(NET), word = 0;
	volatile struct tna_judged_rules *judged = &home.rules[0];
	struct tna_connection_key key = {};
	struct segment segment;

	UNLESS_BECAUSE(segment_parse(ctx, &segment));
	BECAUSE(!rules_generation(net, judged) || !(judged->steady & TNA_STEADY_UDP), IP_NETFILTER);
	BECAUSE(rules_differ(net, judged, 4), IP_NETFILTER);
	u32 larger = ends_from_larger(&segment.ends);

	ends_key(&segment.ends, larger, &key);
	struct tna_connection *known = bpf_map_lookup_elem(&connections, &key);

	BECAUSE(!known, FLOW_UNKNOWN);
	volatile struct tna_lesson *lesson = larger ? &known->lessons[1] : &known->lessons[0];
	u64 entry = lesson->entry, departure = lesson->departure, arrival = lesson->arrival;
	u32 generation = lesson->generation;

	BECAUSE(!generation || !entry, FLOW_UNKNOWN);
	word = generation ^ judged->generation;
	COLLECT(word, lesson->routes ^ routes_generation(net));
	COLLECT(word, lesson->service ^ segment.service);
	COLLECT(word, arrival ^ hook_ingress_device(hook_kernel_buffer(ctx)));
	COLLECT(word, lesson_device_differs(arrival, &lesson->from));
	COLLECT(word, lesson_device_differs(departure, &lesson->to));
	COLLECT(word, tracked_unfit(entry, lesson->direction, &segment.ends, net));
	COLLECT(word, tracked_mark(entry) ^ lesson->mark);
	u64 until = lesson->until;

	COLLECT(word, (lesson->generation ^ generation) | (lesson->entry ^ entry));
	COLLECT(word, lesson->entry_again ^ entry);
	BECAUSE(word, FLOW_CHANGED);
	BECAUSE((s64)(until - bpf_jiffies64()) < 0, FLOW_REFRESH);
	BECAUSE(segment.checksum && checksum_matters(net) &&
			segment_checksum_wrong(ctx, segment.length, segment_ends_sum(&segment)),
		FLOW_CHECKSUM);
	return departure;
}

#endif
