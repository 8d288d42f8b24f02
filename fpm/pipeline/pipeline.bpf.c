// SPDX-License-Identifier: GPL-2.0
/* Composes the modules: the one program of which every profile is a specialisation. */
#include "bridge/bridge.bpf.h"
#include "route/route6.bpf.h"

SEC("xdp.frags")
int pipeline(struct xdp_md *ctx)
{
	if (CONSTANT(BRIDGE)) {
		/* a packet for the bridge, which routes */
		WHEN(ROUTE) if (packet_ip_for(ctx, CONSTANT(STATION))) return route_forward(ctx);
		return bridge_forward(ctx);
	}
	return CONSTANT(ROUTE) ? route_forward(ctx) : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
