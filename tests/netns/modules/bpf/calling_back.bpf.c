// SPDX-License-Identifier: GPL-2.0
/* A module with a function that the kernel is to call. */
#include <tna/module.h>

static long nothing(__u32 index, void *context)
{
	return context ? index : 0;
}

TNA_INGRESS(packet)
{
	bpf_loop(3, nothing, NULL, 0);
	return TNA_CONTINUE;
}
