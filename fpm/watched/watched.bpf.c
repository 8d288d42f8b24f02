// SPDX-License-Identifier: GPL-2.0
/* The pipeline for kernels that are not read in place. */
#include "watched/watched.bpf.h"

/* not "xdp.frags": whether the kernel knows that is found out when this is loaded */
SEC("xdp")
int pipeline(struct xdp_md *ctx)
{
	return CONSTANT(BRIDGE) ? watched_forward(ctx) : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
