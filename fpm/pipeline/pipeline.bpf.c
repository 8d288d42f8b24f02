// SPDX-License-Identifier: GPL-2.0
/* Composes the modules: the one program of which every profile is a specialisation. */
#include "bridge/bridge.bpf.h"
#if !HOOK_WITHIN_LINUX
#include "flowtable/flowtable.bpf.h"
#endif
#include "route/route.bpf.h"

INLINE int bridge(hook_context *ctx)
{
	int verdict = bridge_forward(ctx);

	WHEN(MODULES_BRIDGE) return decision_announce(ctx, verdict, &bridge_modules, TNA_HOOK_BRIDGE);
	return verdict;
}

INLINE int route(hook_context *ctx)
{
	int verdict = route_forward(ctx);

	WHEN(MODULES_ROUTE) return decision_announce(ctx, verdict, &route_modules, TNA_HOOK_ROUTE);
	return verdict;
}

/* A module of its own, in profiles without others: what Linux does at a port before it bridges or routes. */
INLINE int flowtable(hook_context *ctx)
{
#if HOOK_WITHIN_LINUX
	return HOOK_TO_LINUX;
#else
	return CONSTANT(FLOWTABLE) && FLOWTABLE_KNOWN ? flowtable_forward(ctx) : HOOK_TO_LINUX;
#endif
}

INLINE int decide(hook_context *ctx)
{
	if (unlikely(home.listening) && filters_may_want(ctx))
		return leave_to_linux(ctx, TNA_REASON_CAPTURE);
	if (CONSTANT(BRIDGE)) {
		/* a packet for the bridge, which routes */
		WHEN(ROUTE) if (packet_ip_for(ctx, CONSTANT(STATION), TAGS)) return route(ctx);
		return bridge(ctx);
	}
	return CONSTANT(ROUTE) ? route(ctx) : flowtable(ctx);
}

SEC(HOOK_SECTION)
int pipeline(hook_context *ctx)
{
	return hook_verdict(decide(ctx));
}

char _license[] SEC("license") = "GPL";
