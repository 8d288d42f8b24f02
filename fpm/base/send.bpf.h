/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_SEND_H
#define TNA_BASE_SEND_H

/*
 * The one place that sends. Modules decide: they describe a departure, and leave by send(). All of it is
 * inlined, so that a departure takes no memory, and in each module only what its departures say is left of
 * the code.
 */

#include "packet/ipv4.bpf.h"
#include "packet/ipv6.bpf.h"
#include "base/ports.bpf.h"
#include "base/translation.bpf.h"

/* What was decided about a frame. What is not always needed is a pointer: it is read where it is needed. */
struct departure {
	const u16 *in; /* the place of the ingress port, which only custom modules are told */
	u32 out;       /* the place of the egress port */
	int unproved;  /* the port may not be there: if it is not, that is counted as a reason */
	u64 length;    /* of the frame; routed: without tags and without what lies behind the packet */
	u64 *packets;  /* where frames are counted; NULL: the caller does it, if the frame was sent */
	u64 *bytes;

	/* What custom modules are told of the egress port: the address of its device, or else its index. */
	const u64 *device;
	u32 ifindex;

	/* Bridged: what becomes of the tag (RETAG_*), and of which kind it is. */
	u64 retag;
	u32 vlan_protocol;

	u32 routed;             /* 0, 4 or 6 */
	const u64 *destination; /* MAC addresses */
	const u64 *source;
	u64 old_tags;
	u64 tags;
	u64 behind;       /* bytes behind the packet, which Linux cuts off (pskb_trim_rcsum()) */
	const u32 *above; /* whether it is handed to another device, on top of the one that it leaves by */
	const struct tna_translation *translation; /* NULL: addresses and ports stay */
	const struct tna_translation *marked;      /* NULL: it has no mark */
};

/* Notes for custom modules that a bridge sends a frame out of a port. */
INLINE int note_bridged(hook_context *ctx, struct tna_decision *note, const struct departure *departure)
{
	note->retag = departure->retag & RETAG_ANY ? departure->retag : 0;
	note->vlan_protocol = departure->vlan_protocol;
	note->forward = 1;
	if (CONSTANT(MODULES_ASK)) {
		note->egress = departure->device
				       ? KLOAD(u32, KADDR(struct net_device, *departure->device, ifindex))
				       : departure->ifindex;
		note->routed = 0;
		note->length = packet_length(ctx);
	}
	/* for what may come back changed */
	WHEN(MODULES_CHANGE) return decision_compare(ctx, note, 0, 1) ? HOOK_TO_LINUX : HOOK_SENT;
	return HOOK_SENT;
}

/* Notes what is done besides within Linux. */
INLINE void note_within_linux(struct tna_decision_note *note, const struct departure *departure)
{
	note->device = *departure->device;
	if (departure->routed)
		note->above = *departure->above;
}

/* Notes that a packet is routed out of a port, with the tag that the frame is to have and, above it, has. */
INLINE int note_routed(hook_context *ctx, struct tna_decision *note, const struct departure *departure)
{
	note->egress = KLOAD(u32, KADDR(struct net_device, *departure->device, ifindex));
	note->routed = departure->routed;
	note->left = departure->length;
	note->retag = departure->old_tags << 32 | (u32)departure->tags;
	note->destination = *departure->destination;
	note->source = *departure->source;
	note->forward = 1;
	return decision_compare(ctx, note, departure->routed, 1) ? HOOK_TO_LINUX : HOOK_SENT;
}

INLINE int note_departure(hook_context *ctx, const struct departure *departure)
{
	struct tna_decision *note = decision_here();

	if (!note)
		return HOOK_TO_LINUX;
	note->slots = decision_slots(*departure->in, departure->out);
	if (HOOK_WITHIN_LINUX)
		note_within_linux(note_around(note), departure);
	return departure->routed ? note_routed(ctx, note, departure) : note_bridged(ctx, note, departure);
}

/* What a packet looks like one hop further, and with other tags; false if the frame is too short. */
INLINE int rewrite_routed(hook_context *ctx, const struct departure *departure)
{
	const struct tna_translation *to = departure->translation;
	u64 destination = *departure->destination, source = *departure->source;

	if (unlikely(to))
		return departure->routed == 6
			       ? rewrite_translated6(ctx, destination, source, departure->tags, to)
			       : rewrite_translated4(ctx, destination, source, departure->tags, to);
	if (departure->routed == 6)
		return ipv6_rewrite(ctx, destination, source, departure->tags);
	return ipv4_rewrite(ctx, destination, source, departure->tags);
}

/*
 * Out of the port, whatever custom modules say. A frame is changed only when nothing can fail any more: a
 * port that goes away leaves the map first. Whether it is there is not looked at for a frame that stays as it
 * is and whose port was proved: if it is not, XDP's verdict leaves the frame to Linux.
 */
INLINE int send_now(hook_context *ctx, const struct departure *departure)
{
	int action = hook_send(&egress_ports, departure->out, departure->device, CONSTANT(NET));

	if (departure->routed) {
		RARELY((u64)(u32)action, HOOK_IS_NOT_SENT, nowhere);
		if (tags_cannot_be_replaced(ctx, departure->old_tags, departure->tags))
			return leave_to_linux(ctx, TNA_REASON_HEADROOM);
		/* Within Linux both may fail; Linux cuts that off as well, if it gets the frame. */
		if (HOOK_WITHIN_LINUX && departure->behind && hook_cut_tail(ctx, departure->behind))
			goto nowhere;
		if (!hook_becomes_routed(ctx, CONSTANT(NET), departure->routed) ||
		    replace_tags(ctx, departure->old_tags, departure->tags))
			return leave_to_linux(ctx, TNA_REASON_HEADROOM);
		if (!HOOK_WITHIN_LINUX)
			RARELY(departure->behind, "!= 0", cut);
rewrite:
		if (unlikely(!rewrite_routed(ctx, departure)))
			return HOOK_TO_LINUX;
		if (HOOK_WITHIN_LINUX && departure->marked)
			hook_mark(ctx, departure->marked->left_mark);
		if (HOOK_WITHIN_LINUX && *departure->above)
			hook_passes_above(ctx);
	} else if (unlikely(departure->retag & RETAG_ANY) || departure->unproved || HOOK_WITHIN_LINUX) {
		if (action != HOOK_SENT)
			return leave_to_linux(ctx, TNA_REASON_EGRESS_UNMANAGED);
		if (departure->retag & RETAG_ANY &&
		    !retag_frame(ctx, departure->retag, departure->vlan_protocol))
			return leave_to_linux(ctx, TNA_REASON_HEADROOM);
	}
	if (departure->packets) {
		++*departure->packets;
		*departure->bytes += departure->length + tags_length(departure->tags);
	}
	return action;
cut:
	if (hook_cut_tail(ctx, departure->behind) == 0)
		goto rewrite;
nowhere:
	return departure->unproved ? leave_to_linux(ctx, TNA_REASON_EGRESS_UNMANAGED) : HOOK_TO_LINUX;
}

/* HOOK_SENT, or HOOK_TO_LINUX with the frame untouched. Where custom modules come first, what would be done
 * is only noted (base/decision.bpf.h). */
INLINE int send(hook_context *ctx, const struct departure *departure)
{
	if (departure->routed) {
		WHEN_RARE(MODULES_ROUTE) return note_departure(ctx, departure);
	} else if (__builtin_constant_p(departure->retag) && !departure->retag) {
		WHEN_RARE(MODULES_BRIDGE) return note_departure(ctx, departure);
	} else { /* where tags are changed, the other order of the code needs less stack */
		WHEN(MODULES_BRIDGE) return note_departure(ctx, departure);
	}
	return send_now(ctx, departure);
}

#endif
