/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_COMMON_LOOK_H
#define TNA_ROUTE_COMMON_LOOK_H

/* What the straight lines of both protocols say of packets that they do not send, and the closer look. */

#include "base/send.bpf.h"
#include "connection/permit.bpf.h"
#include "route/common/path.bpf.h"

/*
 * Conditions that are harmless more often than not, for the ports that have them. `device` is the one as
 * which Linux receives the packet, `departure` the one to which it hands it.
 */
NOINLINE u64 route_objection(hook_context *ctx, u64 device, u64 departure)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u64 buffer = CONSTANT(VETH) ? hook_sender_buffer(hook_kernel_buffer(ctx)) : 0;
	u64 word =
		guard_devices(CONSTANT(NET), device, departure, hook_sender_socket(hook_kernel_buffer(ctx)));

	word |= guard_tc_arrival_busy(device, hook_ingress_device(hook_kernel_buffer(ctx))) |
		guard_vrf(KOBJ(struct net_device, device));
	if (guard_capture_possible(net))
		word |= guard_capture_namespace(CONSTANT(NET), net) |
			guard_capture_specific(CONSTANT(NET), device, KOBJ(struct net_device, device)) |
			guard_capture_members(hook_ingress_device(hook_kernel_buffer(ctx)));
	if (buffer)
		word |= guard_unfinished_checksum(buffer) | guard_hidden_tag(buffer) |
			guard_sender_marks(buffer);
	return word;
}

/* For a packet that is not to be sent. */
INLINE int route_refuse(hook_context *ctx, u32 reason, const int version)
{
	if (CONSTANT(RULES) && connection_drops(reason, version))
		return drop_as_linux(ctx, reason);
	return leave_to_linux(ctx, reason);
}

/* What there is to say against a packet for which a route is known, and proved. */
INLINE u64 route_objections(hook_context *ctx, const struct tna_route *route,
			    const struct tna_route_stack *part)
{
	u64 device = route->ingress_dev, arrival = device;

	if (!CONSTANT(STACKED))
		return route_objection(ctx, device, route->egress_dev);
	if (CONSTANT(BRIDGE))
		arrival = route_arrival(device, arriving_tags(part, 0));
	else
		device = hook_ingress_device(hook_kernel_buffer(ctx));
	return stacked_objection(part, device, arrival, route->egress_dev,
				 hook_sender_socket(hook_kernel_buffer(ctx))) |
	       route_objection(ctx, arrival, part->departure);
}

/* Besides verdicts: it is another packet's place; everything is in doubt, or just deserves a closer look; it
 * is IPv6; all is well but the rules, or the connection, are in the way; or they have yet to be asked. */
#define LOOK_ELSEWHERE 16
#define LOOK_AGAIN 17
#define LOOK_CLOSER 18
#define LOOK_AT_IPV6 19
#define LOOK_REFUSED 20
#define LOOK_FOR_PERMIT 21

/* A verdict, and above it the place of what was proved, or the reason for which it is refused. */
INLINE u64 route_verdict(u32 verdict, u32 index)
{
	return (u64)index << 32 | verdict;
}

#endif
