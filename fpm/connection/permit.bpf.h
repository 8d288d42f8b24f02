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
#include "connection/stream.bpf.h"
#include "connection/tracked.bpf.h"

/* nf_conntrack_checksum: whether Linux looks at checksums at all. */
INLINE u32 checksum_matters(u64 net)
{
	return KLOAD(u8, KADDR(struct net, net, ct.sysctl_checksum));
}

/* From the first packet on that meets other functions, nothing is known until the controller has judged anew.
 */
INLINE u32 evaluate_rules(u64 net, volatile struct tna_judged_rules *judged, u32 protocol)
{
	BECAUSE(!rules_generation(net, judged) || !rules_steady(net, judged, protocol), IP_NETFILTER);
	if (rules_differ(net, judged, 4)) {
		judged->generation = 0;
		judged->missed = 1;
		return TNA_REASON_IP_NETFILTER;
	}
	return REASON_NONE;
}

/* Of TCP: the windows of the connection are known here, and what becomes of packets outside of them. */
INLINE u32 evaluate_stream(struct tna_stream *stream, u64 entry, u32 direction, struct segment *segment,
			   u64 net)
{
	BECAUSE(!stream || !tracked_liberal(entry) || tracked_restless(entry), FLOW_STATE);
	stream_pieces(entry, direction, &segment->tcp);
	BECAUSE(stream_invalid(stream, entry, direction, &segment->tcp, net), FLOW_WINDOW);
	return REASON_NONE;
}

/* Of TCP, last of all: it is noted here, as connection tracking does not see it. */
INLINE u32 evaluate_note(struct tna_stream *stream, u64 entry, u32 direction, struct tcp_part *part)
{
	BECAUSE(stream->shut || stream_judge(stream, direction, part) != WINDOWS_IN, FLOW_STATE);
	BECAUSE(stream_note(stream, entry, direction, part, WINDOWS_IN), FLOW_STATE);
	return REASON_NONE;
}

/* The device to which Linux hands the packet, by address; else a reason for which it is Linux's, or for which
 * it is dropped. */
NOINLINE u64 connection_permit(hook_context *ctx)
{
	u64 net = CONSTANT(NET), word = 0;
	volatile struct tna_judged_rules *judged = &home.rules[0];
	struct tna_stream *stream = NULL;
	struct segment segment;

	UNLESS_BECAUSE(segment_parse(ctx, &segment));
	UNLESS_BECAUSE(evaluate_rules(net, judged, segment.ends.protocol));
	volatile struct tna_lesson *lesson = bpf_map_lookup_elem(&lessons, &segment.ends);

	BECAUSE(!lesson, FLOW_UNKNOWN);
	u64 stamp = lesson->stamp, entry = lesson->entry;
	u64 departure = lesson->departure, arrival = lesson->arrival;
	u32 direction = lesson->direction;

	BECAUSE(tracked_unfit(entry, direction, &segment.ends, net), FLOW_CHANGED);
	if (segment.ends.protocol == PROTOCOL_TCP) {
		stream = bpf_map_lookup_elem(&streams, &entry);
		UNLESS_BECAUSE(evaluate_stream(stream, entry, direction, &segment, net));
	}
	COLLECT(word, lesson->generation ^ judged->generation);
	COLLECT(word, lesson->serial ^ judged->serial);
	COLLECT(word, lesson->routes ^ routes_generation(net));
	COLLECT(word, lesson->service ^ segment.service);
	COLLECT(word, arrival ^ hook_ingress_device(hook_kernel_buffer(ctx)));
	COLLECT(word, lesson_device_differs(arrival, &lesson->from));
	COLLECT(word, lesson_device_differs(departure, &lesson->to));
	COLLECT(word, tracked_mark(entry) ^ lesson->mark);
	u64 until = lesson->until;
	s32 least = lesson->least;

	COLLECT(word, (lesson->stamp ^ stamp) | (lesson->stamp_again ^ stamp));
	BECAUSE(word, FLOW_CHANGED);
	BECAUSE(!segment_in_the_middle(&segment), FLOW_KIND);
	BECAUSE((s64)(until - bpf_jiffies64()) < 0 || tracked_left(entry) < least, FLOW_REFRESH);
	BECAUSE(segment.checksum && checksum_matters(net) &&
			segment_checksum_wrong(ctx, segment.length, segment_ends_sum(&segment)),
		FLOW_CHECKSUM);
	if (stream)
		UNLESS_BECAUSE(evaluate_note(stream, entry, direction, &segment.tcp));
	return departure;
}

/* What is called invalid is dropped here, where the rules drop it. */
INLINE u32 connection_drops(u32 reason)
{
	return reason == TNA_REASON_FLOW_WINDOW && home.rules[0].steady & TNA_INVALID_DROPPED;
}

#endif
