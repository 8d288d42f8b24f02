/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V6_NEXT_HOP_H
#define TNA_ROUTE_V6_NEXT_HOP_H

/*
 * What v4/next_hop.bpf.h is for IPv4. Each route has a next hop of its own here, and what is remembered is
 * found by the gateway.
 */

#include "route/v6/evaluate.bpf.h"

/* For an index below FLOWS_TOTAL. */
INLINE struct tna_route6 *route6_at(u32 index)
{
	struct tna_route6 *all = routes6;

	asm volatile("" : "+r"(all)); /* its size is known at load time only */
	return all + (index >> 1);
}

/* Addresses differ in their last bytes, which are the highest of a number as it lies in the header. */
INLINE u64 ipv6_mix(const struct ipv6_address *destination, const struct ipv6_address *source)
{
	u64 rest = destination->rest ^ source->rest >> 3;
	u64 prefix = destination->prefix ^ source->prefix >> 5;

	return rest ^ rest >> 35 ^ prefix >> 11 ^ prefix >> 41;
}

INLINE u32 ipv6_index(const struct ipv6_tuple *tuple)
{
	return flow_index(ipv6_mix(&tuple->destination, &tuple->source), 0, 0);
}

/* The place for what depends on a gateway, and the port that a packet comes in by. */
INLINE u32 hop6_index(const struct ipv6_address *gateway, u64 egress, u64 device)
{
	const struct ipv6_address ports = {egress, device};

	return flow_index(ipv6_mix(gateway, &ports), 0, 0);
}

/* What of an entry is not that of a route with this next hop. */
INLINE u64 hop6_differs(const struct tna_route6 *hop, const struct route6_path *path)
{
	u64 word = hop->route.epoch ^ hop_epoch(route6_epoch(KOBJ(struct net, CONSTANT(NET))));

	COLLECT(word, hop->gateway_prefix ^ path->gateway.prefix);
	COLLECT(word, hop->gateway_rest ^ path->gateway.rest);
	COLLECT(word, hop->route.egress_dev ^ path->common.departure);
	COLLECT(word, hop->metrics ^ path->metrics);
	return word;
}

/* Where the cache remembers a packet's gateway, whose entry then leads to the packet's route. */
NOINLINE u32 route6_find(hook_context *ctx, u64 device)
{
	struct route6_path path = {.common.port = device};
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	struct ipv6 ip;

	if (!route6_parse(ctx, &ip, 0) || !ipv6_address_routed(&ip.tuple.source) ||
	    !ipv6_address_routed(&ip.tuple.destination))
		return NOWHERE;
	if (inet6_rules(net) || bpf_get_prandom_u32() % RARE == 0 ||
	    evaluate6_in_place(&path, route6_usual(&ip.tuple)) != REASON_NONE ||
	    evaluate6_next_hop(hook_kernel_buffer(ctx), &path, &ip.tuple) != REASON_NONE)
		return NOWHERE;
	u32 index = hop6_index(&path.gateway, path.common.departure, device);

	path.metrics = KLOAD(u64, KADDR(struct fib6_info, path.common.info, fib6_metrics));
	if (index >= FLOWS_TOTAL || hop6_differs(route6_at(index), &path))
		return NOWHERE;
	struct tna_route *hop = &route6_at(index)->route;

	hop->alias = path.common.alias;
	hop->info = path.common.info;
	hop->hop = path.common.hop;
	return index;
}

/* Remembers for the gateway what has been evaluated for a packet. */
INLINE void route6_remember_hop(const struct tna_route6 *route6)
{
	const struct tna_route *route = &route6->route;
	struct fib_nh_common *next = KOBJ(struct fib_nh_common, route->hop);
	const struct ipv6_address gateway = {route6->gateway_prefix, route6->gateway_rest};
	u32 index = hop6_index(&gateway, route->egress_dev, route->ingress_dev);

	if (index >= FLOWS_TOTAL || !KGET(u8, next, nhc_gw_family))
		return;
	struct tna_route6 *hop = route6_at(index);

	if (hop == route6)
		return;
	route_evict(&hop->route);
	*hop = *route6;
	hop->route.epoch = hop_epoch(route->epoch);
	hop->route.packets = hop->route.bytes = 0;
}

#endif
