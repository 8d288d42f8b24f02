// SPDX-License-Identifier: GPL-2.0
/* Composes the modules: the one program of which every profile is a specialisation. */
#include "bridge/bridge.bpf.h"
#include "route/route6.bpf.h"

INLINE int bridge(struct xdp_md *ctx)
{
	int verdict = bridge_forward(ctx);

	WHEN(MODULES_BRIDGE) return decision_announce(ctx, verdict, &bridge_modules, TNA_HOOK_BRIDGE);
	return verdict;
}

INLINE int route(struct xdp_md *ctx)
{
	int verdict = route_forward(ctx);

	WHEN(MODULES_ROUTE) return decision_announce(ctx, verdict, &route_modules, TNA_HOOK_ROUTE);
	return verdict;
}

SEC("xdp.frags")
int pipeline(struct xdp_md *ctx)
{
	if (CONSTANT(BRIDGE)) {
		/* a packet for the bridge, which routes */
		WHEN(ROUTE) if (packet_ip_for(ctx, CONSTANT(STATION), TAGS)) return route(ctx);
		return bridge(ctx);
	}
	return CONSTANT(ROUTE) ? route(ctx) : XDP_PASS;
}

char _license[] SEC("license") = "GPL";
