/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_DECISION_H
#define TNA_BASE_DECISION_H

/*
 * Custom modules after a decision (tna/module.h). In a profile that has any, what would be done with a frame
 * is not done but noted; it goes on with the first module, and behind the last one with finish.bpf.c, which
 * does it, if the frame is still the one that was decided about. In all other profiles the verifier removes
 * what is here.
 */

#include <tna/fastpath.h>

#include "packet/packet.bpf.h"
#include "base/constant.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_decision_note);
} decision SEC(".maps");

struct chain {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, u32);
};
struct chain bridge_modules SEC(".maps");
struct chain route_modules SEC(".maps");

INLINE struct tna_decision_note *decision_note(void)
{
	u32 zero = 0;

	return bpf_map_lookup_elem(&decision, &zero);
}

/* A decision is where its note begins. */
INLINE struct tna_decision_note *note_around(struct tna_decision *decision)
{
	return (struct tna_decision_note *)decision;
}

INLINE struct tna_decision *decision_here(void)
{
	struct tna_decision_note *note = decision_note();

	return note ? &note->decision : NULL;
}

/*
 * The ports of TCP or UDP, or what is in their place, which rules look at: behind IP's header without
 * options. `data` is where the frame would begin without a tag; a bridged frame that has one is no packet to
 * rules.
 */
INLINE u32 decision_ports(const u8 *data, const u8 *end, u32 version)
{
	u32 six = version ? version == 6 : *(u16 *)(data + 2 * ETH_ALEN) == bpf_htons(ETH_P_IPV6);

	if (six)
		return data + 58 > end ? 0 : *(u32 *)(data + 54);
	return data + PACKET_MIN + 4 > end ? 0 : *(u32 *)(data + PACKET_MIN);
}

/* What a module must not change: all that decisions are made from. `version` is that of a packet that is
 * routed. */
INLINE u64 decision_compare(hook_context *ctx, struct tna_decision *note, u32 version, const int write)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);
	u32 length = HOOK_WITHIN_LINUX ? packet_length(ctx) : end - data;
	u64 different = 0;

	if (data + PACKET_MIN > end)
		return 1;
	if (HOOK_TAGS_BESIDE) {
		if (write)
			note_around(note)->tag = hook_tag_beside(ctx);
		else
			different = note_around(note)->tag ^ hook_tag_beside(ctx);
	}
#define DECISION_PART(index, type, offset)                                                                   \
	do {                                                                                                 \
		if (write)                                                                                   \
			note->seen[index] = *(type *)(data + (offset));                                      \
		else                                                                                         \
			different |= note->seen[index] ^ *(type *)(data + (offset));                         \
	} while (0)
	DECISION_PART(0, u64, 0);
	DECISION_PART(1, u64, 8);
	DECISION_PART(2, u64, 16);
	DECISION_PART(3, u64, 24);
	DECISION_PART(4, u16, 32);
	/* a routed packet behind a tag, which makes the headers longer */
	if (!HOOK_TAGS_BESIDE && version && note->retag >> 32) {
		data += 4;
		if (data + PACKET_MIN > end)
			return 1;
		DECISION_PART(5, u32, PACKET_MIN - 4);
	}
	if (version == 6) {
		if (data + 54 > end)
			return 1;
		DECISION_PART(6, u64, 34);
		DECISION_PART(7, u64, 42);
		DECISION_PART(8, u32, 50);
	}
#undef DECISION_PART
	u32 ports = decision_ports(data, end, version);

	if (write)
		note_around(note)->ports = ports;
	else
		different |= note_around(note)->ports ^ ports;
	if (write)
		note->length = length;
	return different | (note->length ^ length);
}

/* Notes why a frame is left to Linux. */
INLINE void decision_reason(u32 reason)
{
	struct tna_decision *note = decision_here();

	if (note)
		note->reason = reason;
}

/* The ports' places, as they are noted. */
INLINE u32 decision_slots(u32 in, u32 out)
{
	return out << 16 | in;
}

/* The verdict goes to the modules, unless nobody is to have the frame; where there is none to go to, the
 * frame is untouched. What is to be forwarded has been noted. */
INLINE int decision_announce(hook_context *ctx, int verdict, void *modules, const enum tna_hook hook)
{
	if (verdict == HOOK_DROP)
		return HOOK_DROP;
	if (verdict != HOOK_SENT) {
		struct tna_decision *note = decision_here();

		if (!note)
			return HOOK_TO_LINUX;
		note->forward = 0;
	}
	tna_go_on(ctx, modules, hook);
	return HOOK_TO_LINUX;
}

#endif
