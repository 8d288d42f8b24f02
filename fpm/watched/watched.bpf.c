// SPDX-License-Identifier: GPL-2.0
/* The pipeline for kernels that are not read in place. */
/* None of these is called here, and these kernels do not have what they call. */
#define APART static __attribute__((noinline, unused))

#include "watched/watched.bpf.h"

/* not "xdp.frags": whether the kernel knows that is found out when this is loaded */
SEC("xdp")
int pipeline(hook_context *ctx)
{
	if (!CONSTANT(BRIDGE))
		return HOOK_TO_LINUX;
	int verdict = watched_forward(ctx);

	WHEN(MODULES_BRIDGE) return decision_announce(ctx, verdict, &bridge_modules, TNA_HOOK_BRIDGE);
	return verdict;
}

char _license[] SEC("license") = "GPL";
