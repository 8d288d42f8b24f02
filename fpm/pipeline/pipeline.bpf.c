// SPDX-License-Identifier: GPL-2.0
/* Composes the modules: the one program of which every profile is a specialisation. */
#include "bridge/why.bpf.h"

/* Counts a frame that is left to Linux, by port and reason. */
NOINLINE int count_slow(struct xdp_md *ctx)
{
	s32 slot = port_slot(ctx->ingress_ifindex);
	u32 reason = bridge_why(ctx), key = slot;
	struct tna_port_counters *counters = slot < 0 ? NULL : bpf_map_lookup_elem(&port_counters, &key);

	if (counters && reason < TNA_REASON_COUNT)
		counters->slow[reason]++;
	return XDP_PASS;
}

SEC("xdp.frags")
int pipeline(struct xdp_md *ctx)
{
	int verdict = CONSTANT(BRIDGE) ? bridge_forward(ctx) : XDP_PASS;

	if (verdict == XDP_PASS)
		count_slow(ctx);
	return verdict;
}

char _license[] SEC("license") = "GPL";
