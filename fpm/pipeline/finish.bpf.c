// SPDX-License-Identifier: GPL-2.0
/*
 * Behind the last custom module after a decision: does what was decided. Only with the frame that was
 * decided about; what a module has made of it since is another one, about which Linux decides.
 */
#include "base/send.bpf.h"

/* Most frames go the way of the one before. */
INLINE void finish_count(struct tna_decision_note *run, u32 length)
{
	if (unlikely(run->slots ^ run->decision.slots)) {
		count_forwarded(run->slots & 0xffff, run->slots >> 16, run->packets, run->bytes);
		run->slots = run->decision.slots;
		run->packets = 0;
		run->bytes = 0;
	}
	run->packets++;
	run->bytes += length;
}

INLINE int finish_decided(hook_context *ctx)
{
	struct tna_decision_note *run = decision_note();
	struct tna_decision *note = run ? &run->decision : NULL;
	u32 routed = 0;

	if (!note || !note->forward)
		return HOOK_TO_LINUX;
	WHEN(MODULES_ROUTE) routed = note->routed;
	WHEN(MODULES_CHANGE)
	if (decision_compare(ctx, note, routed, 0))
		return leave_to_linux(ctx, TNA_REASON_MODULE_CHANGED);
	struct departure departure = {
		.out = note->slots >> 16,
		.length = routed ? note->left : packet_length(ctx),
		.unproved = 1,
		.device = &run->device,
		.above = &run->above,
		.retag = note->retag,
		.vlan_protocol = note->vlan_protocol,
		.routed = routed,
		.destination = &note->destination,
		.source = &note->source,
	};

	if (routed) {
		departure.old_tags = note->retag >> 32;
		departure.tags = (u32)note->retag;
		if (HOOK_WITHIN_LINUX && CONSTANT(RULES) && unlikely(any_altered()))
			departure.marked = translation_note(); /* of this packet still */
		departure.behind = note->length - tags_length(departure.old_tags) - note->left;
	}
	int action = send_now(ctx, &departure);

	if (action == HOOK_SENT)
		finish_count(run, departure.length + tags_length(departure.tags));
	return action;
}

/* Not "xdp.frags": whether the kernel knows that is found out when this is loaded. */
#ifdef TNA_HOOK_TCX
#define FINISH_SECTION HOOK_SECTION
#else
#define FINISH_SECTION "xdp"
#endif

SEC(FINISH_SECTION)
int finish(hook_context *ctx)
{
	return hook_verdict(finish_decided(ctx));
}

char _license[] SEC("license") = "GPL";
