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

/* From the first packet on that meets other functions, nothing is known until the controller has judged anew.
 */
INLINE u32 evaluate_rules(u64 net, volatile struct tna_judged_rules *judged)
{
	BECAUSE(!rules_generation(net, judged) || !(judged->steady & TNA_STEADY_UDP), IP_NETFILTER);
	if (rules_differ(net, judged, 4)) {
		judged->generation = 0;
		judged->missed = 1;
		return TNA_REASON_IP_NETFILTER;
	}
	return REASON_NONE;
}

/* The device to which Linux hands the packet, by address; else a reason for which it is Linux's. */
NOINLINE u64 connection_permit(hook_context *ctx)
{
	u64 net = CONSTANT(NET), word = 0;
	volatile struct tna_judged_rules *judged = &home.rules[0];
	struct segment segment;

	UNLESS_BECAUSE(segment_parse(ctx, &segment));
	UNLESS_BECAUSE(evaluate_rules(net, judged));
	volatile struct tna_lesson *lesson = bpf_map_lookup_elem(&lessons, &segment.ends);

	BECAUSE(!lesson, FLOW_UNKNOWN);
	u64 stamp = lesson->stamp, entry = lesson->entry;
	u64 departure = lesson->departure, arrival = lesson->arrival;

	COLLECT(word, lesson->generation ^ judged->generation);
	COLLECT(word, lesson->serial ^ judged->serial);
	COLLECT(word, lesson->routes ^ routes_generation(net));
	COLLECT(word, lesson->service ^ segment.service);
	COLLECT(word, arrival ^ hook_ingress_device(hook_kernel_buffer(ctx)));
	COLLECT(word, lesson_device_differs(arrival, &lesson->from));
	COLLECT(word, lesson_device_differs(departure, &lesson->to));
	COLLECT(word, tracked_unfit(entry, lesson->direction, &segment.ends, net));
	COLLECT(word, tracked_mark(entry) ^ lesson->mark);
	u64 until = lesson->until;
	s32 least = lesson->least;

	COLLECT(word, (lesson->stamp ^ stamp) | (lesson->stamp_again ^ stamp));
	BECAUSE(word, FLOW_CHANGED);
	BECAUSE((s64)(until - bpf_jiffies64()) < 0 || tracked_left(entry) < least, FLOW_REFRESH);
	BECAUSE(segment.checksum && checksum_matters(net) &&
			segment_checksum_wrong(ctx, segment.length, segment_ends_sum(&segment)),
		FLOW_CHECKSUM);
	return departure;
}

#endif
