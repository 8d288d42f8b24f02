/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_TRANSLATED_H
#define TNA_CONNECTION_TRANSLATED_H

/*
 * Translated packets. Routing comes before the rules here, and needs the destination that connection tracking
 * puts in: what was learnt says which one that was. That is no more than a guess; with the permission it is
 * proved, by the connection's entry, that the packet was routed to the destination that it gets.
 */

#include "base/constant.bpf.h"
#include "base/reason.bpf.h"
#include "base/translation.bpf.h"
#include "connection/lesson.bpf.h"
#include "connection/tracked.bpf.h"

/* The ports of the packet whose IP header ends behind so many bytes of the frame; 0: none can be seen. */
INLINE u32 ports_at(hook_context *ctx, u32 protocol, u32 begins)
{
	u8 *at = hook_data(ctx) + (begins & 127), *end = hook_data_end(ctx);

	if ((protocol != PROTOCOL_UDP && protocol != PROTOCOL_TCP) || at + 4 > end)
		return 0;
	return *(u32 *)at;
}

/* What a packet is to be routed by, besides its destination. */
INLINE void note_marks(struct tna_translation *note, const struct tna_lesson *lesson)
{
	note->routed_mark = lesson ? lesson->routed_mark : 0;
	note->left_mark = lesson ? lesson->left_mark : 0;
}

/* Notes the destination that a packet is to be routed to, its own one or another one, and its mark. What was
 * learnt, if anything. */
NOINLINE struct tna_lesson *note_destination(hook_context *ctx)
{
	struct tna_translation *note = translation_note();
	struct ipv4 ip;

	if (!note || !ipv4_parse(ctx, &ip, TAGS_MOST))
		return NULL;
	u32 begins = ETH_HLEN + IPV4_HEADER_LEN + tags_length(ip.ethernet.tags);
	u32 ports = ports_at(ctx, ip.tuple.protocol, begins);
	struct tna_ends ends = {.source = ip.tuple.addresses,
				.destination = ip.tuple.addresses >> 32,
				.source_port = ports,
				.destination_port = ports >> 16,
				.protocol = ip.tuple.protocol};
	struct tna_lesson *lesson = bpf_map_lookup_elem(&lessons, &ends);

	note->routed[0] = lesson ? lesson->destination[0] : ends.destination;
	note_marks(note, lesson);
	return lesson;
}

/* The same over IPv6. */
NOINLINE struct tna_lesson *note_destination6(hook_context *ctx)
{
	struct tna_translation *note = translation_note();
	struct ipv6 ip;

	if (!note || !ipv6_parse(ctx, &ip, TAGS_MOST))
		return NULL;
	u32 ports = ports_at(ctx, ip.tuple.protocol, IPV6_FRAME_MIN + tags_length(ip.ethernet.tags));
	struct tna_ends6 ends = {.source = {ip.tuple.source.prefix, ip.tuple.source.rest},
				 .destination = {ip.tuple.destination.prefix, ip.tuple.destination.rest},
				 .source_port = ports,
				 .destination_port = ports >> 16,
				 .protocol = ip.tuple.protocol};
	struct tna_lesson *lesson = bpf_map_lookup_elem(&lessons6, &ends);

	EACH (index, 2)
		note->routed[index] = lesson ? lesson->destination[index] : ends.destination[index];
	note_marks(note, lesson);
	return lesson;
}

/* What becomes of packets is not what became of the one that the lesson is about, and that the rules saw. */
INLINE u64 lesson_translation_differs(const volatile struct tna_lesson *lesson,
				      const struct tna_translation *note, const int version)
{
	u64 word = lesson->source[0] ^ note->source[0];

	COLLECT(word, lesson->destination[0] ^ note->destination[0]);
	if (version == 6) {
		COLLECT(word, lesson->source[1] ^ note->source[1]);
		COLLECT(word, lesson->destination[1] ^ note->destination[1]);
	}
	COLLECT(word, lesson->source_port ^ note->source_port);
	COLLECT(word, lesson->destination_port ^ note->destination_port);
	return word;
}

/* Notes, from the entry, what becomes of a packet; 0: that is known, and nothing is in the way. `came`: its
 * ends, as tracked_differs() has them. */
INLINE u64 note_translation(u64 entry, const volatile struct tna_lesson *lesson, const void *came,
			    const int version)
{
	u32 direction = lesson->direction, steps = tracked_steps(entry, direction);
	struct tna_translation *note = translation_note();

	if (!note)
		return 1;
	tracked_translation(entry, direction, note, version);
	u64 word = translation_differs(note, steps, came, version);

	COLLECT(word, lesson_translation_differs(lesson, note, version));
	if (steps) { /* the memory of an entry may have become another one's just now */
		COLLECT(word, tracked_differs(entry, direction, came, version));
		COLLECT(word, tracked_steps(entry, direction) ^ steps);
	}
	note->steps = word ? 0 : steps;
	return word;
}

/* Apart from each other, and from what uses them: they would need too much stack there. */
APART u64 note_translation4(u64 entry, const struct tna_lesson *lesson, const struct tna_ends *came)
{
	return !lesson || !came || note_translation(entry, lesson, came, 4);
}

APART u64 note_translation6(u64 entry, const struct tna_lesson *lesson, const struct tna_ends6 *came)
{
	return !lesson || !came || note_translation(entry, lesson, came, 6);
}

/* For a lesson that is looked at once more afterwards. */
INLINE u32 evaluate_translation(u64 entry, u32 steps, const volatile struct tna_lesson *lesson,
				const void *came, const int version)
{
	BECAUSE(steps && CONSTANT(MODULES_ROUTE), FLOW_TRANSLATED);
	if (likely(!any_altered()))
		BECAUSE(steps, FLOW_CHANGED);
	else
		BECAUSE(version == 6 ? note_translation6(entry, (const struct tna_lesson *)lesson, came)
				     : note_translation4(entry, (const struct tna_lesson *)lesson, came),
			FLOW_CHANGED);
	return REASON_NONE;
}

#endif
