/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_COMMON_CACHE_H
#define TNA_ROUTE_COMMON_CACHE_H

/* What the route cache remembers of a packet of either protocol. */

#include "route/common/path.bpf.h"

/* One packet in so many is evaluated even if its next hop is known. */
#define RARE 64

/* The epoch of an entry that is for a next hop, so that neither kind is taken for the other, which may lie in
 * its place. */
INLINE u64 hop_epoch(u64 epoch)
{
	return ~epoch;
}

/* Moves what a route has counted to its ports. */
INLINE void route_evict(struct tna_route *route)
{
	if (!route->packets)
		return;
	count_forwarded(route->in_slot, route->out_slot, route->packets, route->bytes);
	route->packets = 0;
	route->bytes = 0;
}

/*
 * Remembers where the parts of the proof lie; each frame looks there again. What it departs by is yet to be
 * evaluated.
 */
INLINE u32 route_fill(struct tna_route *route, const struct route_path *path, u64 epoch)
{
	s32 in = port_slot(KLOAD(u32, KADDR(struct net_device, path->port, ifindex)));

	BECAUSE(in < 0, UNKNOWN_PORT);
	route_evict(route);
	route->ingress_dev = CONSTANT(BRIDGE) ? path->port : path->arrival;
	route->alias = path->alias;
	route->info = path->info;
	route->hop = path->hop;
	route->neighbour = path->neighbour;
	route->egress_dev = path->departure;
	route->epoch = epoch;
	route->in_slot = in;
	route->gateway = path->gateway;
	route->mtu = path->mtu;
	route->destination = path->destination;
	route->source = device_address(KOBJ(struct net_device, path->departure));
	route->reverse_path = path->reverse_path;
	return REASON_NONE;
}

/*
 * For a route whose place is to learn of another arrival first, which may be by another VLAN: nobody leaves
 * by it unless all has been evaluated.
 */
INLINE void route_forget(struct tna_route *route)
{
	route->egress_dev = 0;
}

/*
 * The port by which a packet of this length leaves, whose route has been filled in. If there is a reason
 * against it that route stays without an egress device, which no neighbour belongs to.
 */
NOINLINE u32 evaluate_departure(hook_context *ctx, struct tna_route *route, struct tna_route_stack *part,
				u32 total)
{
	struct bridge_path out = {.egress = route->egress_dev};
	u32 len = total + ETH_HLEN;

	route->egress_dev = 0;
	if (CONSTANT(STACKED))
		UNLESS_BECAUSE(evaluate_stacked_departure(out.egress, route->destination, part, &out.egress));
	if (CONSTANT(STACKED) && part->departure != out.egress && guard_unfinished(ctx))
		BECAUSE(stack_finishes(ctx, part->departure, out.egress), CHECKSUM);
	len += tags_length(route_tags(part));
	UNLESS_BECAUSE(evaluate_egress(&out, hook_is_several(ctx) ? 0 : len, 1));
	BECAUSE(guard_sender(hook_kernel_buffer(ctx), out.egress), SENDER_SOCKET);
	s32 slot = port_slot_out(KLOAD(u32, KADDR(struct net_device, out.egress, ifindex)), len);

	if (slot < 0)
		return ~slot;
	route->out_slot = slot;
	route->above = CONSTANT(STACKED) && part->departure != out.egress;
	route->egress_dev = out.egress;
	return REASON_NONE;
}

#endif
