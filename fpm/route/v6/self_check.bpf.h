/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V6_SELF_CHECK_H
#define TNA_ROUTE_V6_SELF_CHECK_H

/* What v4/self_check.bpf.h is for IPv4. */

#include "route/common/self_check.bpf.h"
#include "route/v6/next_hop.bpf.h"

NOINLINE int route6_ask(hook_context *ctx, struct tna_answer *answer, u64 arrival, u32 mark)
{
	u32 ifindex = KLOAD(u32, KADDR(struct net_device, arrival, ifindex));
	struct bpf_fib_lookup lookup;
	struct ipv6 ip;

	*answer = (struct tna_answer){};
	if (!route6_parse(ctx, &ip, TAGS_MOST))
		return 0;
	long told = route6_lookup(ctx, &lookup, ifindex, &ip.tuple, mark);

	if (told == 0 || told == BPF_FIB_LKUP_RET_NO_NEIGH) {
		answer->ifindex = lookup.ifindex;
		answer->gateway[0] = (u64)lookup.ipv6_dst[1] << 32 | lookup.ipv6_dst[0];
		answer->gateway[1] = (u64)lookup.ipv6_dst[3] << 32 | lookup.ipv6_dst[2];
	}
	return kernel_told(told);
}

/* As route_search(). */
NOINLINE int route6_search(hook_context *ctx, struct tna_answer *answer)
{
	struct route6_path path = {};
	struct ipv6 ip;

	*answer = (struct tna_answer){};
	if (inet6_rules(KOBJ(struct net, CONSTANT(NET))) || !route6_parse(ctx, &ip, TAGS_MOST) ||
	    evaluate6_in_place(&path, route6_usual(&ip.tuple)) != REASON_NONE ||
	    evaluate6_next_hop(hook_kernel_buffer(ctx), &path, &ip.tuple) != REASON_NONE)
		return 0;
	answer->ifindex = hop_ifindex(KOBJ(struct fib_nh_common, path.common.hop));
	answer->gateway[0] = path.gateway.prefix;
	answer->gateway[1] = path.gateway.rest;
	return !!answer->ifindex;
}

NOINLINE int route6_alarm(hook_context *ctx, const struct tna_answer *ours, const struct tna_answer *kernel,
			  u32 ifindex)
{
	struct ipv6 ip;

	if (!route6_parse(ctx, &ip, TAGS_MOST))
		return 0;
	route_describe(ours, kernel, FAMILY_INET6, ifindex, ip.tuple.source, ip.tuple.destination);
	return 1;
}

/* As route_search_fails(). */
NOINLINE int route6_search_fails(hook_context *ctx, u64 arrival)
{
	struct tna_answer kernel, ours, again;

	if (!route6_ask(ctx, &kernel, arrival, 0) || !route6_search(ctx, &ours) ||
	    !answers_differ(&ours, &kernel))
		return 0;
	if (!route6_ask(ctx, &again, arrival, 0) || answers_differ(&again, &kernel))
		return 0;
	if (!route6_search(ctx, &again) || answers_differ(&again, &ours))
		return 0;
	return route6_alarm(ctx, &ours, &kernel, KLOAD(u32, KADDR(struct net_device, arrival, ifindex)));
}

/* As route_check(). */
NOINLINE u32 route6_check(hook_context *ctx, u32 index)
{
	struct tna_answer kernel;

	if (index >= FLOWS_TOTAL)
		return REASON_NONE;
	struct tna_route6 *route6 = route6_at(index);
	u64 arrival = known_arrival(&route6->route, route6_stack_at(index));
	u64 departure = known_departure(&route6->route, route6_stack_at(index));
	struct tna_answer ours = {.ifindex = KLOAD(u32, KADDR(struct net_device, departure, ifindex)),
				  .gateway = {route6->gateway_prefix, route6->gateway_rest}};
	u64 key = route6->route.info ^ route6->route.epoch;

	if (!route6_ask(ctx, &kernel, arrival, route6->route.mark))
		return REASON_NONE;
	if (!answers_differ(&ours, &kernel)) {
		self_check_trust(key);
		return REASON_NONE;
	}
	if (!route6_search_fails(ctx, arrival) && self_check_lasts(key))
		route6_alarm(ctx, &ours, &kernel, KLOAD(u32, KADDR(struct net_device, arrival, ifindex)));
	return self_check_paused(TNA_CHECKED_ROUTE) ? TNA_REASON_SELF_CHECK : TNA_REASON_UNPROVED;
}

#endif
