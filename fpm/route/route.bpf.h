/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_H
#define TNA_ROUTE_H

/*
 * Packets from one port to another by the kernel's own routes. See README.md beside this file for what is
 * accelerated and what is left to Linux. What is the same for both protocols is in common/, devices on top of
 * ports are in stack/.
 */

#include "route/v4/forward.bpf.h"
#include "route/v6/forward.bpf.h"

/* HOOK_SENT, or HOOK_TO_LINUX with the frame untouched. The straight line of IPv4 sees first what it is. */
INLINE int route_forward(hook_context *ctx)
{
	u64 verdict = route_look(ctx);

	if (likely(verdict != LOOK_AT_IPV6))
		return route_conclude(ctx, verdict);
	return bpf_core_field_exists(struct net, ipv6) ? route6_forward(ctx)
						       : leave_to_linux(ctx, TNA_REASON_NOT_IP);
}

#endif
