/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V4_SELF_CHECK_H
#define TNA_ROUTE_V4_SELF_CHECK_H

/*
 * What the kernel's own lookup says to a packet that the straight line would send: base/self_check.bpf.h.
 * A route may change between the two. If another search finds what the kernel says, that is what has
 * happened, unless it lasts; if it does not, twice in a row and each time with the same two answers, the
 * search is wrong.
 */

#include "route/common/self_check.bpf.h"
#include "route/v4/next_hop.bpf.h"

NOINLINE int route_ask(hook_context *ctx, struct tna_answer *answer, u64 arrival, u32 mark)
{
	u32 ifindex = KLOAD(u32, KADDR(struct net_device, arrival, ifindex));
	struct bpf_fib_lookup lookup;
	struct ipv4 ip;

	*answer = (struct tna_answer){};
	if (!route_parse(ctx, &ip, TAGS_MOST))
		return 0;
	long told =
		route_lookup(ctx, &lookup, ifindex, ip.start, ip.tuple.addresses, FIB_SKIP_NEIGHBOUR, mark);

	if (told == 0) {
		answer->ifindex = lookup.ifindex;
		answer->gateway[0] = lookup.ipv4_dst;
	}
	return kernel_told(told);
}

/* What a search of our own finds now; where there are routing rules, nothing: each packet that is evaluated
 * asks both, and the way there takes too much of the stack. */
NOINLINE int route_search(hook_context *ctx, struct tna_answer *answer)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	struct ipv4 ip;

	*answer = (struct tna_answer){};
	if (policy_custom(net) || !route_parse(ctx, &ip, TAGS_MOST))
		return 0;
	u32 to = ip.tuple.addresses >> 32;
	u64 info = route_plain(found_or_linux(fib_find(KGET(u64, net, ipv4.fib_main), bpf_ntohl(to))));
	u64 address = info ? fib_single_hop(info) : 0;
	struct fib_nh_common *hop = KOBJ(struct fib_nh_common, address);
	u32 family = KGET(u8, hop, nhc_gw_family);

	if (!address || (family && family != FAMILY_INET))
		return 0;
	answer->ifindex = hop_ifindex(hop);
	answer->gateway[0] = family ? KGET(u32, hop, nhc_gw.ipv4) : to;
	return !!answer->ifindex;
}

NOINLINE int route_alarm(hook_context *ctx, const struct tna_answer *ours, const struct tna_answer *kernel,
			 u32 ifindex)
{
	struct ipv4 ip;

	if (!route_parse(ctx, &ip, TAGS_MOST))
		return 0;
	route_describe(ours, kernel, FAMILY_INET, ifindex, (struct ipv6_address){(u32)ip.tuple.addresses},
		       (struct ipv6_address){ip.tuple.addresses >> 32});
	return 1;
}

/* Whether a search that starts now finds something else than the kernel; says so. */
NOINLINE int route_search_fails(hook_context *ctx, u64 arrival)
{
	struct tna_answer kernel, ours, again;

	if (!route_ask(ctx, &kernel, arrival, 0) || !route_search(ctx, &ours) ||
	    !answers_differ(&ours, &kernel))
		return 0;
	if (!route_ask(ctx, &again, arrival, 0) || answers_differ(&again, &kernel))
		return 0;
	if (!route_search(ctx, &again) || answers_differ(&again, &ours))
		return 0;
	return route_alarm(ctx, &ours, &kernel, KLOAD(u32, KADDR(struct net_device, arrival, ifindex)));
}

/* Whether the kernel's lookup takes the source of a packet by the device that it comes in by. */
NOINLINE int route_source_refused(hook_context *ctx, u64 arrival, u64 departure, s32 filter)
{
	u32 ifindex = KLOAD(u32, KADDR(struct net_device, arrival, ifindex)), asked = ifindex;
	struct bpf_fib_lookup lookup;
	struct ipv4 ip;

	if (!route_parse(ctx, &ip, TAGS_MOST))
		return 0;
	if (policy_custom(KOBJ(struct net, CONSTANT(NET))))
		asked = KLOAD(u32, KADDR(struct net_device, departure, ifindex));
	long told = route_lookup(ctx, &lookup, asked, ip.start, addresses_back(ip.tuple.addresses),
				 FIB_SKIP_NEIGHBOUR, 0);

	return kernel_told(told) && (source_unrouted(told) || (filter == 1 && lookup.ifindex != ifindex));
}

/* A reason to leave the packet to Linux after all; or none. */
NOINLINE u32 route_check(hook_context *ctx, u32 index)
{
	struct tna_answer kernel;

	if (index >= FLOWS_TOTAL)
		return REASON_NONE;
	struct tna_route *route = route_at(index);
	u64 arrival = known_arrival(route, route_stack_at(index));
	u64 departure = known_departure(route, route_stack_at(index));
	struct tna_answer ours = {.ifindex = KLOAD(u32, KADDR(struct net_device, departure, ifindex)),
				  .gateway = {route->gateway}};
	u64 key = route->info ^ route->epoch;

	if (!route_ask(ctx, &kernel, arrival, route->mark))
		return REASON_NONE;
	if (!answers_differ(&ours, &kernel) &&
	    !route_source_refused(ctx, arrival, departure, reverse_path_filter(route->reverse_path))) {
		self_check_trust(key);
		return REASON_NONE;
	}
	if (!route_search_fails(ctx, arrival) && self_check_lasts(key))
		route_alarm(ctx, &ours, &kernel, KLOAD(u32, KADDR(struct net_device, arrival, ifindex)));
	return self_check_paused(TNA_CHECKED_ROUTE) ? TNA_REASON_SELF_CHECK : TNA_REASON_UNPROVED;
}

#endif
