// SPDX-License-Identifier: GPL-2.0
/*
 * Behind the last custom module after a decision: does what was decided. Only with the frame that was
 * decided about; what a module has made of it since is another one, about which Linux decides.
 */
#include "packet/ipv4.bpf.h"
#include "packet/ipv6.bpf.h"
#include "base/ports.bpf.h"

INLINE int finish_routed(hook_context *ctx, const struct tna_decision *note)
{
	u32 old_tag = note->retag >> 32, tag = note->retag;
	u32 behind = note->length - tag_length(old_tag) - note->left;

	if (replace_tags(ctx, old_tag, tag)) {
		leave_to_linux(ctx, TNA_REASON_HEADROOM);
		return 0;
	}
	/* Linux cuts off what is behind the packet (pskb_trim_rcsum()) */
	if (behind && hook_cut_tail(ctx, behind))
		return 0;
	if (note->routed == 6)
		return ipv6_rewrite(ctx, note->destination, note->source, tag);
	return ipv4_rewrite(ctx, note->destination, note->source, tag);
}

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

/* not "xdp.frags": whether the kernel knows that is found out when this is loaded */
SEC("xdp")
int finish(hook_context *ctx)
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
	if (hook_send(&egress_ports, note->slots >> 16) != HOOK_SENT)
		return leave_to_linux(ctx, TNA_REASON_EGRESS_UNMANAGED);
	if (routed) {
		if (!finish_routed(ctx, note))
			return HOOK_TO_LINUX;
		finish_count(run, note->left + tag_length((u32)note->retag));
		return HOOK_SENT;
	}
	u32 length = packet_length(ctx);

	if ((note->retag & RETAG_ANY) && !retag_frame(ctx, note->retag, note->vlan_protocol))
		return leave_to_linux(ctx, TNA_REASON_HEADROOM);
	finish_count(run, length);
	return HOOK_SENT;
}

char _license[] SEC("license") = "GPL";
