/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V4_OWN_ADDRESS_H
#define TNA_ROUTE_V4_OWN_ADDRESS_H

/*
 * Sources that are addresses of this host. Linux drops what claims to come from one; without a reverse path
 * filter it asks its list of addresses for that (fib_validate_source()), where the fast path asks routes.
 * Those say the same while each address has its local route; but that can be deleted, or another one be put
 * in front of it. So all addresses are looked at: whether the kernel's route is what a packet finds, and
 * bears the mark without which its going would not move the generation (destination.bpf.h). As long as the
 * generation does not move, which new addresses do, that holds. Where it is not so, each source that is
 * evaluated is looked for.
 */

#include "route/v4/evaluate.bpf.h"

#define ROUTE_LOCAL 2          /* RTN_LOCAL */
#define OWN_ADDRESSES_MAX 8192 /* with the devices: a walk over so many takes a millisecond */

/* What is known of all addresses is known for this generation of the routes; never 0. */
INLINE u64 own_generation(struct net *net)
{
	return 1ULL << 32 | KGET(u32, net, ipv4.rt_genid.counter);
}

/* Whether routes tell for each address of this host that it is one. */
INLINE int own_addresses_routed(struct net *net)
{
	return home.own_addresses == own_generation(net);
}

/* Whether the route that a packet to an address finds is the kernel's own, and marked; else leaves the mark.
 */
NOINLINE int own_address_routed(hook_context *ctx, u32 address, u32 ifindex)
{
	u64 table = KLOAD(u64, KADDR(struct net, CONSTANT(NET), ipv4.fib_main));
	u64 found = found_or_linux(fib_find(table, bpf_ntohl(address)));
	struct fib_alias *alias = KOBJ(struct fib_alias, found);
	struct bpf_fib_lookup lookup;

	if (!found || KGET(u8, alias, fa_dscp) || KGET(u8, alias, fa_type) != ROUTE_LOCAL)
		return 0;
	if (KGET(u8, alias, fa_state) & ROUTE_ACCESSED)
		return 1;
	route_lookup(ctx, &lookup, ifindex, 0, (u64)address << 32, FIB_SKIP_NEIGHBOUR, 0);
	return 0;
}

/* The struct in_ifaddr * of a device's first address, by its place in the list of devices. */
INLINE u64 own_first_address(u64 node)
{
	u64 device = node - bpf_core_field_offset(struct net_device, dev_list);
	u64 inet = inet_device(KOBJ(struct net_device, device));

	return inet ? KLOAD(u64, KADDR(struct in_device, inet, ifa_list)) : 0;
}

/*
 * Whether a source may be one of this host's addresses: it is, or they are too many to say. Remembers it if
 * all of them have their routes.
 */
NOINLINE int own_address_possible(hook_context *ctx, u32 source, u32 ifindex)
{
	u64 net = CONSTANT(NET), devices = KADDR(struct net, net, dev_base_head);
	u64 generation = own_generation(KOBJ(struct net, net)); /* before anything is looked at */
	u64 node = KLOAD(u64, devices), address = 0, strange = 0, found = 0;
	struct search more; /* than have been looked at */

	SEARCH (more, OWN_ADDRESSES_MAX) {
		if (address) {
			u32 own = KLOAD(u32, KADDR(struct in_ifaddr, address, ifa_local));

			found |= own == source;
			if (ipv4_address_routed(own) && !own_address_routed(ctx, own, ifindex))
				strange = 1;
			address = KLOAD(u64, KADDR(struct in_ifaddr, address, ifa_next));
		} else if (node == devices) {
			CONCLUDE(more, search_none());
		} else {
			address = own_first_address(node);
			node = KLOAD(u64, node);
		}
	}
	if (search_surely_none(more) && !strange)
		home.own_addresses = generation;
	return found || !search_surely_none(more);
}

/* For a packet whose route has been filled in: Linux takes none from itself. */
NOINLINE u32 evaluate_own_source(hook_context *ctx, struct tna_route *route,
				 const struct tna_route_stack *part)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u64 arrival = known_arrival(route, part);

	if (policy_custom(net))
		return route_evaluate_policy_source(ctx, route, part, route_source_in_place(route));
	if (reverse_path_filter(route->reverse_path) || own_addresses_routed(net))
		return REASON_NONE;
	BECAUSE(own_address_possible(ctx, route->addresses,
				     KLOAD(u32, KADDR(struct net_device, arrival, ifindex))),
		REVERSE_PATH);
	return REASON_NONE;
}

#endif
