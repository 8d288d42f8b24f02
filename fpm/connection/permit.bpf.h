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
#include "connection/translated.bpf.h"
#include "packet/dhcp.bpf.h"

/* nf_conntrack_checksum: whether Linux looks at checksums at all. */
INLINE u32 checksum_matters(u64 net)
{
	return KLOAD(u8, KADDR(struct net, net, ct.sysctl_checksum));
}

/* Rules may finish an unfinished checksum; of DHCP they may always do so (libvirt's). */
INLINE u32 rules_finish(const volatile struct tna_judged_rules *judged, u32 protocol, u32 to_port)
{
	if (protocol == PROTOCOL_TCP)
		return judged->steady & TNA_FINISHES_TCP;
	return judged->steady & TNA_FINISHES_UDP || is_dhcp(to_port);
}

/* From the first packet on that meets other functions, nothing is known until the controller has judged anew.
 */
INLINE u32 evaluate_rules(hook_context *ctx, volatile struct tna_judged_rules *judged, u32 protocol,
			  u32 to_port, const int version)
{
	u64 net = CONSTANT(NET);

	BECAUSE(hook_has_past(hook_kernel_buffer(ctx)), MARKED);
	BECAUSE(hook_checksum_unfinished(hook_kernel_buffer(ctx)) && rules_finish(judged, protocol, to_port),
		CHECKSUM);
	BECAUSE(!rules_generation(net, judged) || !rules_steady_for_some(judged, protocol), IP_NETFILTER);
	BECAUSE(!rules_certain(net, judged->steady, protocol) && !(judged->steady & TNA_EXEMPT_TCP) &&
			!judged->ways[0].from.name[0],
		IP_NETFILTER);
	if (rules_differ(net, judged, version)) {
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
	BECAUSE(!stream || stream->anew || !tracked_liberal(entry), FLOW_STATE);
	BECAUSE(tracked_restless(entry), FLOW_STATE);
	/* what becomes of those is noted where connection tracking is */
	BECAUSE(segment->tcp.flags & (TCP_FIN | TCP_RST), FLOW_KIND);
	stream_pieces(entry, direction, &segment->tcp);
	BECAUSE(stream_surely_invalid(stream, entry, direction, &segment->tcp, net), FLOW_WINDOW);
	return REASON_NONE;
}

/* Of TCP, last of all: it is noted here, as connection tracking does not see it. That does not note what is
 * beyond the windows either, where it lets it pass. */
INLINE u32 evaluate_note(struct tna_stream *stream, u64 entry, u32 direction, struct tcp_part *part, u64 net)
{
	u32 verdict = stream_judge(stream, direction, part);

	BECAUSE(stream->shut || (verdict != WINDOWS_IN && !stream_takes_all(stream, direction, net)),
		FLOW_STATE);
	stream_notice(stream);
	if (verdict == WINDOWS_IN || verdict == WINDOWS_OVER)
		BECAUSE(stream_note(stream, entry, direction, part, verdict), FLOW_STATE);
	if (verdict != WINDOWS_IN) {
		*(volatile u32 *)&stream->last_direction = direction & 1;
		*(volatile u32 *)&stream->last_other = 0;
	}
	return REASON_NONE;
}

/* By which devices rules see a packet come, by address: that as which Linux receives it, and where a bridge
 * calls the rules, its ports. */
struct seen_by_rules {
	u64 arrival;
	u64 in_port;
	u64 out_port;
	int bridged; /* a bridge calls them */
};

/* Rules, routes, devices, or what else rules look at, are not those of the lesson. */
INLINE u64 lesson_differs(const volatile struct tna_lesson *lesson, const struct segment *segment,
			  const struct seen_by_rules *seen, const int version)
{
	const volatile struct tna_judged_rules *judged = judged_rules(version);
	u64 arrival = lesson->arrival, word = 0;

	COLLECT(word, lesson->generation ^ judged->generation);
	COLLECT(word, lesson->serial ^ judged->serial);
	COLLECT(word, lesson->routes ^ routes_generation(CONSTANT(NET), version));
	COLLECT(word, lesson->service ^ segment->service);
	COLLECT(word, arrival ^ seen->arrival);
	COLLECT(word, lesson_port_differs(seen->in_port, lesson->ports[0]));
	COLLECT(word, lesson_port_differs(seen->out_port, lesson->ports[1]));
	COLLECT(word, lesson_device_differs(arrival, &lesson->from));
	COLLECT(word, lesson_device_differs(lesson->departure, &lesson->to));
	return word;
}

/* Of a flow that nobody tracks, there is no entry that proves whose lesson it is: its memory may have become
 * another flow's since it was found. */
INLINE u64 lesson_is_of_others(const volatile struct tna_lesson *lesson, const void *ends, const int version)
{
	const struct tna_ends *ends4 = ends;
	const struct tna_ends6 *ends6 = ends;
	u64 word = lesson->protocol ^ (version == 6 ? ends6->protocol : ends4->protocol);

	COLLECT(word, lesson->source_port ^ (version == 6 ? ends6->source_port : ends4->source_port));
	COLLECT(word, lesson->destination_port ^
			      (version == 6 ? ends6->destination_port : ends4->destination_port));
	COLLECT(word, lesson->source[0] ^ (version == 6 ? ends6->source[0] : ends4->source));
	COLLECT(word, lesson->destination[0] ^ (version == 6 ? ends6->destination[0] : ends4->destination));
	if (version == 6) {
		COLLECT(word, lesson->source[1] ^ ends6->source[1]);
		COLLECT(word, lesson->destination[1] ^ ends6->destination[1]);
	}
	return word;
}

/* Where connections have been translated: the packet was not routed as it is. Nothing is to be changed in it.
 */
INLINE u64 untracked_differs(const void *ends, const int bridged, const int version)
{
	const struct tna_ends *ends4 = ends;
	const struct tna_ends6 *ends6 = ends;

	if (likely(!any_altered()))
		return 0;
	struct tna_translation *note = translation_note();

	if (!note)
		return 1;
	note->steps = 0;
	if (bridged)
		return 0;
	u64 word = note->routed[0] ^ (version == 6 ? ends6->destination[0] : ends4->destination);

	if (version == 6)
		COLLECT(word, note->routed[1] ^ ends6->destination[1]);
	return word;
}

/* Connection tracking would let the packet pass; of TCP, `stream` is what is known of its connection. */
INLINE u32 evaluate_entry(struct segment *segment, const void *ends, const volatile struct tna_lesson *lesson,
			  u64 entry, const int bridged, u32 unfinished, struct tna_stream **stream,
			  const int version)
{
	u64 net = CONSTANT(NET);
	u32 direction = lesson->direction;

	BECAUSE(tracked_differs(entry, direction, ends, version), FLOW_CHANGED);
	BECAUSE(tracked_unfit(entry, direction, segment->protocol, net), FLOW_CHANGED);
	u32 steps = tracked_steps(entry, direction);

	/* 0 is none for some kernels, and one for others */
	BECAUSE(steps && !segment->checksum && unfinished, FLOW_CHECKSUM);
	if (bridged)
		BECAUSE(steps, FLOW_TRANSLATED);
	else
		UNLESS_BECAUSE(evaluate_translation(entry, steps, lesson, ends, version));
	if (segment->protocol == PROTOCOL_TCP) {
		BECAUSE(steps && !translated_in_order(net, judged_rules(version)), FLOW_TRANSLATED);
		BECAUSE(!bridged && may_be_routed_by_mark(net, judged_rules(version), version) &&
				!invalid_ends_early(net, judged_rules(version)),
			MARKED);
		*stream = bpf_map_lookup_elem(&streams, &entry);
		UNLESS_BECAUSE(evaluate_stream(*stream, entry, direction, segment, net));
		BECAUSE(!rules_certain(net, lesson->invalid, PROTOCOL_TCP), IP_NETFILTER);
	}
	return REASON_NONE;
}

/* The marks that were noted of a packet that is routed are not those that rules have put on the one of the
 * lesson. */
INLINE u64 noted_marks_differ(const volatile struct tna_lesson *lesson)
{
	const struct tna_translation *note = translation_note();

	if (!note)
		return 1;
	return (note->routed_mark ^ lesson->routed_mark) | (note->left_mark ^ lesson->left_mark);
}

/* As connection_permit(), of a packet that has been looked at, and of which this is the lesson. */
INLINE u64 evaluate_lesson(hook_context *ctx, struct segment *segment, const void *ends,
			   volatile struct tna_lesson *lesson, const struct seen_by_rules seen,
			   const int version)
{
	u64 net = CONSTANT(NET), word = 0;
	struct tna_stream *stream = NULL;

	BECAUSE(!lesson, FLOW_UNKNOWN);
	u64 stamp = lesson->stamp, entry = lesson->entry, departure = lesson->departure;
	u32 direction = lesson->direction;

	COLLECT(word, lesson_differs(lesson, segment, &seen, version));
	/* What is not of the same flow to the rules may be exempt: it is not dropped for its windows. */
	BECAUSE(word && judged_rules(version)->steady & TNA_EXEMPT_TCP, FLOW_CHANGED);
	if (entry)
		UNLESS_BECAUSE(evaluate_entry(segment, ends, lesson, entry, seen.bridged,
					      hook_checksum_unfinished(hook_kernel_buffer(ctx)), &stream,
					      version));
	else
		COLLECT(word, lesson_is_of_others(lesson, ends, version) |
				      untracked_differs(ends, seen.bridged, version));
	if (entry)
		COLLECT(word, tracked_mark(entry) ^ lesson->mark);
	if (!seen.bridged && unlikely(any_altered()))
		COLLECT(word, noted_marks_differ(lesson));
	u64 until = lesson->until;
	s32 least = lesson->least;

	COLLECT(word, (lesson->stamp ^ stamp) | (lesson->stamp_again ^ stamp));
	BECAUSE(word, FLOW_CHANGED);
	BECAUSE(!segment_in_the_middle(segment), FLOW_KIND);
	BECAUSE((s64)(until - bpf_jiffies64()) < 0, FLOW_REFRESH);
	if (!entry) /* nobody looks at checksums, nor at windows */
		return departure;
	BECAUSE(tracked_left(entry) < least, FLOW_REFRESH);
	u64 addresses = version == 6 ? ends6_sum(ends) : ends_sum(ends);

	BECAUSE(segment->checksum && checksum_matters(net) && !hook_checksum_known(hook_kernel_buffer(ctx)) &&
			segment_checksum_wrong(ctx, segment->begins, segment->length,
					       segment_ends_sum(segment, addresses)),
		FLOW_CHECKSUM);
	if (stream)
		UNLESS_BECAUSE(evaluate_note(stream, entry, direction, &segment->tcp, net));
	return departure;
}

/* Before what was learnt of a packet is looked for: it is of a kind of which anything is, under these rules.
 */
INLINE u32 evaluate_kind4(hook_context *ctx, struct segment *segment, struct tna_ends *ends)
{
	UNLESS_BECAUSE(segment_parse(ctx, segment, ends));
	return evaluate_rules(ctx, judged_rules(4), segment->protocol, ends->destination_port, 4);
}

INLINE u32 evaluate_kind6(hook_context *ctx, struct segment *segment, struct tna_ends6 *ends)
{
	UNLESS_BECAUSE(segment6_parse(ctx, segment, ends));
	return evaluate_rules(ctx, judged_rules(6), segment->protocol, ends->destination_port, 6);
}

/*
 * Whether anything at all was learnt of a packet, which is asked before its way is evaluated: what begins
 * connections, or is for this host, need not wait for that.
 */
NOINLINE u32 connection_unheard(hook_context *ctx)
{
	struct segment segment;
	struct tna_ends ends;

	UNLESS_BECAUSE(evaluate_kind4(ctx, &segment, &ends));
	BECAUSE(!bpf_map_lookup_elem(&lessons, &ends), FLOW_UNKNOWN);
	return REASON_NONE;
}

NOINLINE u32 connection6_unheard(hook_context *ctx)
{
	struct segment segment;
	struct tna_ends6 ends;

	UNLESS_BECAUSE(evaluate_kind6(ctx, &segment, &ends));
	BECAUSE(!bpf_map_lookup_elem(&lessons6, &ends), FLOW_UNKNOWN);
	return REASON_NONE;
}

/* The device to which Linux hands a packet that rules see come so, by address; else a reason for which it is
 * Linux's, or for which it is dropped. `lesson` is what was learnt of it, if somebody has looked it up
 * already.
 */
INLINE u64 permit4(hook_context *ctx, const struct seen_by_rules seen, struct tna_lesson *lesson)
{
	struct segment segment;
	struct tna_ends ends;

	UNLESS_BECAUSE(evaluate_kind4(ctx, &segment, &ends));
	if (!lesson)
		lesson = bpf_map_lookup_elem(&lessons, &ends);
	return evaluate_lesson(ctx, &segment, &ends, lesson, seen, 4);
}

/* Over IPv6. */
INLINE u64 permit6(hook_context *ctx, const struct seen_by_rules seen, struct tna_lesson *lesson)
{
	struct segment segment;
	struct tna_ends6 ends;

	UNLESS_BECAUSE(evaluate_kind6(ctx, &segment, &ends));
	if (!lesson)
		lesson = bpf_map_lookup_elem(&lessons6, &ends);
	return evaluate_lesson(ctx, &segment, &ends, lesson, seen, 6);
}

/* Of packets that are routed. `in_port`: of a bridge that has the rules called for what it hands to the host;
 * 0: there is none. */
NOINLINE u64 connection_permit(hook_context *ctx, u64 arrival, u64 in_port, struct tna_lesson *lesson)
{
	return permit4(ctx, (struct seen_by_rules){arrival, in_port}, lesson);
}

NOINLINE u64 connection6_permit(hook_context *ctx, u64 arrival, u64 in_port, struct tna_lesson *lesson)
{
	return permit6(ctx, (struct seen_by_rules){arrival, in_port}, lesson);
}

/* Where there are rules: why a packet that would leave by a device is Linux's nevertheless. */
INLINE u32 evaluate_connection(hook_context *ctx, u64 arrival, u64 in_port, u64 departure, const int version)
{
	u64 permitted = version == 6 ? connection6_permit(ctx, arrival, in_port, NULL)
				     : connection_permit(ctx, arrival, in_port, NULL);

	if (permitted < REASON_NONE)
		return permitted;
	BECAUSE(permitted != departure, FLOW_CHANGED);
	return REASON_NONE;
}

/* What is called invalid is dropped here, where the rules drop it. */
INLINE u32 connection_drops(u32 reason, const int version)
{
	return reason == TNA_REASON_FLOW_WINDOW && judged_rules(version)->steady & TNA_INVALID_DROPPED;
}

#endif
