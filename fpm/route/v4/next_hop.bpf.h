/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V4_NEXT_HOP_H
#define TNA_ROUTE_V4_NEXT_HOP_H

/*
 * Destinations that the route cache does not know. Where many are talked to most packets are for such a one,
 * and to evaluate each from nothing would take longer than Linux. But all that matters besides the route
 * itself depends on the next hop, and those are few: the cache remembers one entry for each of them, too. A
 * packet finds its route in the kernel's trie, and goes on to the same proof as any other, with its next
 * hop's entry.
 *
 * Such an entry was filled by route_evaluate(), where bpf_fib_lookup() and the search in the trie have named
 * the same next hop; and one packet in RARE is evaluated so whatever is known, by chance, and remembered by
 * its addresses. So what is talked to often gets an entry of its own, which what is not does not push out.
 */

#include "route/v4/destination.bpf.h"

/* The place for what depends on a route's next hop, the port that a packet comes in by, and the tag with
 * which a bridge hands it to the host. */
INLINE u32 hop_index(u64 info, u64 device, u32 tag)
{
	return flow_index(info, device, tag);
}

/* Whether Linux takes a packet from an address as which it comes in, without evaluating more. A route that it
 * passes over is none; where there is no filter, another one may be this host's. */
INLINE int source_in_order(hook_context *ctx, u32 from, u64 arrival, u64 reverse_path)
{
	u64 info = destination_info(ctx, from, arrival), address = fib_single_hop(info);
	struct fib_nh_common *hop = KOBJ(struct fib_nh_common, address);

	if (!info || !address || fib_dead(info) || KGET(u8, hop, nhc_flags) & HOP_UNUSABLE)
		return 0;
	if (!reverse_path_filter(reverse_path))
		return own_addresses_routed(KOBJ(struct net, CONSTANT(NET)));
	return KGET(u64, hop, nhc_dev) == arrival;
}

/* Where the cache remembers a packet's next hop, whose entry then leads to the packet's route. */
NOINLINE u32 route_find(hook_context *ctx, u64 addresses, u64 start, u64 device, u32 tag)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u32 from = addresses, to = addresses >> 32;

	if (!ipv4_start_plain(start) || !ipv4_address_routed(from) || !ipv4_address_routed(to))
		return NOWHERE;
	if (policy_custom(net) || bpf_get_prandom_u32() % RARE == 0)
		return NOWHERE;
	u64 arrival = CONSTANT(BRIDGE) ? route_arrival(device, tag) : device;
	u64 info = destination_info(ctx, to, arrival);
	u32 index = hop_index(info, device, tag);

	if (!info || index >= FLOWS_TOTAL)
		return NOWHERE;
	struct tna_route *hop = route_at(index);

	if (hop->info != info || hop->epoch != hop_epoch(route_epoch(net)))
		return NOWHERE;
	/* reverse path filters ask by type of service, too */
	if (((u32)hop->addresses != from || hop->start != (u32)start) &&
	    !source_in_order(ctx, from, arrival, hop->reverse_path))
		return NOWHERE;
	return index;
}

/* Whether all packets with a route go to the same neighbour: it has one next hop, and that is a gateway. */
INLINE int route_has_gateway(const struct tna_route *route)
{
	struct fib_nh_common *hop = KOBJ(struct fib_nh_common, route->hop);

	return fib_single_hop(route->info) == route->hop && KGET(u8, hop, nhc_gw_family);
}

/* Remembers for the next hop what has been evaluated for a packet. */
NOINLINE void route_remember_hop(u32 place)
{
	struct tna_route *route = route_at(place);
	u32 index = hop_index(route->info, route->ingress_dev, arriving_tags(route_stack_at(place), 0));

	if (index == place || index >= FLOWS_TOTAL || !route_has_gateway(route))
		return;
	struct tna_route *hop = route_at(index);

	route_evict(hop);
	*hop = *route;
	hop->epoch = hop_epoch(route->epoch);
	hop->packets = hop->bytes = 0;
	if (CONSTANT(STACKED))
		*route_stack_at(index) = *route_stack_at(place);
}

#endif
