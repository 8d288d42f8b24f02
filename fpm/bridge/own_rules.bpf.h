/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BRIDGE_OWN_RULES_H
#define TNA_BRIDGE_OWN_RULES_H

/*
 * Bridges with rules of their own (family bridge): packets in the middle of a flow, of which Linux has let
 * another one pass that was the same to those rules. Only without tags: what there is of a tag differs from
 * place to place where VLANs are filtered.
 */

#include "base/reason.bpf.h"
#include "connection/bridge_lesson.bpf.h"
#include "connection/segment.bpf.h"
#include "guards/bridge_netfilter.bpf.h"
#include "packet/packet.bpf.h"

#define OWN_RULES (CONSTANT(BRIDGE_RULES) && !CONSTANT(VLAN))

/* The settings of br_netfilter, if that is among the functions, are those that this program knows; they are
 * looked for once for each judgement. */
INLINE int own_rules_calls_known(u64 net, const volatile struct tna_judged_bridge_rules *judged)
{
	u32 serial = judged->serial;

	if (!(judged->steady & TNA_BRIDGE_CALLS))
		return 1;
	if (!CONSTANT(BR_NETFILTER) || !CONSTANT(BRNF))
		return 0;
	if (home.bridge_rules == serial)
		return 1;
	if (found_or_linux(find_brnf(net)) != CONSTANT(BRNF))
		return 0;
	home.bridge_rules = serial;
	return 1;
}

/* From the first packet on that meets other functions, nothing is known until the controller has judged anew.
 */
INLINE int own_rules_known(u64 net)
{
	volatile struct tna_judged_bridge_rules *judged = judged_bridge_rules();

	if (!bridge_rules_generation(net))
		return 0;
	if (bridge_rules_differ(net)) {
		judged->generation = 0;
		judged->missed = 1;
		return 0;
	}
	return own_rules_calls_known(net, judged);
}

INLINE u64 bridged_packet_differs(const volatile struct tna_bridged_packet *known,
				  const struct tna_bridged_packet *is)
{
	const volatile u64 *these = (const volatile void *)known;
	const u64 *those = (const void *)is;
	u64 word = 0;

	EACH (index, sizeof(*is) / 8)
		COLLECT(word, these[index] ^ those[index]);
	return word;
}

/* The devices are not as rules knew those of the lesson. */
INLINE u64 bridged_way_differs(const volatile struct tna_bridge_lesson *lesson, u64 in_port, u64 out_port,
			       u64 bridge)
{
	u64 word = 0;

	COLLECT(word, lesson_device_differs(in_port, &lesson->came));
	COLLECT(word, lesson_device_differs(out_port, &lesson->left));
	COLLECT(word, lesson_device_differs(bridge, &lesson->bridge));
	return word;
}

/* Whether a packet like it has passed. */
INLINE u32 evaluate_own_lesson(const struct tna_bridged_packet *is, u64 in_port, u64 out_port, u64 bridge)
{
	const volatile struct tna_judged_bridge_rules *judged = judged_bridge_rules();
	const volatile struct tna_bridge_lesson *lesson = bpf_map_lookup_elem(&bridge_lessons, is);
	u64 word = 0;

	BECAUSE(!lesson, FLOW_UNKNOWN);
	u64 stamp = lesson->stamp;

	COLLECT(word,
		bridged_packet_differs(&lesson->packet, is)); /* its memory may be another one's by now */
	COLLECT(word, bridged_way_differs(lesson, in_port, out_port, bridge));
	COLLECT(word, lesson->serial ^ judged->serial);
	COLLECT(word, lesson->calls ^
			      (CONSTANT(BR_NETFILTER) ? bridge_rules_call(CONSTANT(BRNF), is->version) : 0));
	COLLECT(word, (lesson->stamp ^ stamp) | (lesson->stamp_again ^ stamp));
	BECAUSE(word, FLOW_CHANGED);
	return REASON_NONE;
}

/* Of the Ethernet header. */
INLINE u32 own_rules_see(hook_context *ctx, const struct segment *segment, struct tna_bridged_packet *is)
{
	struct packet packet;

	BECAUSE(!packet_parse(ctx, &packet), SHORT);
	BECAUSE(!segment_in_the_middle(segment), FLOW_KIND);
	BECAUSE(!bridge_rules_steady(segment->protocol), NETFILTER);
	is->from = packet.source;
	is->to = packet.destination;
	is->service = segment->service;
	is->source_port = segment->source_port;
	is->destination_port = segment->destination_port;
	is->protocol = segment->protocol;
	return REASON_NONE;
}

APART u32 own_rules_permit4(hook_context *ctx, u64 in_port, u64 out_port, u64 bridge)
{
	struct tna_bridged_packet is = {.version = 4};
	struct segment segment;
	struct tna_ends ends;

	UNLESS_BECAUSE(segment_parse(ctx, &segment, &ends));
	UNLESS_BECAUSE(own_rules_see(ctx, &segment, &is));
	is.source[0] = ends.source;
	is.destination[0] = ends.destination;
	return evaluate_own_lesson(&is, in_port, out_port, bridge);
}

APART u32 own_rules_permit6(hook_context *ctx, u64 in_port, u64 out_port, u64 bridge)
{
	struct tna_bridged_packet is = {.version = 6};
	struct segment segment;
	struct tna_ends6 ends;

	UNLESS_BECAUSE(segment6_parse(ctx, &segment, &ends));
	UNLESS_BECAUSE(own_rules_see(ctx, &segment, &is));
	EACH (word, 2) {
		is.source[word] = ends.source[word];
		is.destination[word] = ends.destination[word];
	}
	return evaluate_own_lesson(&is, in_port, out_port, bridge);
}

/* Of a frame that a bridge would send from one of its ports to another one, if it had no rules. */
INLINE u32 evaluate_own_rules(hook_context *ctx, u32 protocol, u64 in_port, u64 out_port, u64 bridge)
{
	u64 net = CONSTANT(NET);

	if (!own_rules_known(net)) {
		BECAUSE(bridge_hooks_revalidate(&home), NETFILTER);
		return REASON_NONE;
	}
	if (protocol == bpf_htons(ETH_P_IP))
		return own_rules_permit4(ctx, in_port, out_port, bridge);
	BECAUSE(protocol != bpf_htons(ETH_P_IPV6), NETFILTER);
	return own_rules_permit6(ctx, in_port, out_port, bridge);
}

#endif
