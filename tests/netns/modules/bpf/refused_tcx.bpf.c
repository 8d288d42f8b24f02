// SPDX-License-Identifier: GPL-2.0
/* A module that is said to be for ports at tcx as well, and uses what there is at XDP only. */
#define TNA_MODULE_AT_TCX
#include <tna/module.h>

TNA_INGRESS(packet)
{
	return bpf_xdp_adjust_tail(packet->ctx, -1) ? TNA_DROP : TNA_CONTINUE;
}
