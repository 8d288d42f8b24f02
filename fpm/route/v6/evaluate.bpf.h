/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V6_EVALUATE_H
#define TNA_ROUTE_V6_EVALUATE_H

/* What v4/evaluate.bpf.h is for IPv4: all tests one by one, each with its reason. */

#include "route/common/cache.bpf.h"
#include "route/common/neighbour.bpf.h"
#include "route/v6/parse.bpf.h"
#include "route/v6/policy.bpf.h"

#define FAMILY_INET6 10 /* AF_INET6 */

struct route6_path {
	struct route_path common;
	u64 inet6; /* of the device that receives */
	u64 egress_inet6;
	struct ipv6_address gateway;
	u64 metrics;
	u64 mtus;
};

INLINE u32 evaluate6_settings(hook_context *ctx, const struct route6_path *path)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	struct ipv6_devconf *all = inet6_all(net);

	BECAUSE(hook_routed_by_past(hook_kernel_buffer(ctx), inet6_rules(net)), MARKED);
	BECAUSE(!CONSTANT(RULES) && guard_inet6_hooks(net), IP_NETFILTER);
	BECAUSE(guard_xfrm(net), XFRM);
	BECAUSE(inet6_disabled(path->inet6) || inet6_not_forwarding(all), NOT_FORWARDING);
	/* that matters to bpf_fib_lookup() only */
	BECAUSE(!KLOAD(u32, KADDR(struct inet6_dev, path->inet6, cnf.forwarding)), NOT_FORWARDING);
	BECAUSE(inet6_proxy(all), PROXY_NDP);
	BECAUSE(inet6_rules(net) && !policy6_plain(net), RULES);
	if (bpf_core_field_exists(struct net, ipv6.fib6_routes_require_src))
		BECAUSE(KGET(u32, net, ipv6.fib6_routes_require_src), ROUTE_SPECIAL);
	return REASON_NONE;
}

/*
 * Unspecified (which Linux takes as destination, but not as source), loopback, link-local and multicast; all
 * others are routed, those too that embed IPv4 addresses or are site-local.
 */
INLINE int ipv6_address_routed(const struct ipv6_address *address)
{
	u64 first = host_order(address->prefix), second = host_order(address->rest);

	return first >> 56 != 0xff && first >> 54 != 0xfe80 >> 6 && (first || second > 1);
}

INLINE u32 evaluate6_header(const struct ipv6 *ip, u64 device)
{
	BECAUSE(ip->ethernet.mac != device_address(KOBJ(struct net_device, device)), OTHER_STATION);
	BECAUSE(ipv6_header_wrong(ip), IP_HEADER);
	BECAUSE(!ipv6_address_routed(&ip->tuple.source) || !ipv6_address_routed(&ip->tuple.destination),
		IP_ADDRESS);
	BECAUSE(ipv6_expires(ip), TTL);
	return REASON_NONE;
}

/* The addresses lie in two words each; the structure has them as four, aligned less. */
INLINE long route6_lookup(hook_context *ctx, struct bpf_fib_lookup *lookup, u32 ifindex,
			  const struct ipv6_tuple *tuple, u32 mark)
{
	*lookup = (struct bpf_fib_lookup){.family = FAMILY_INET6, .ifindex = ifindex};
	lookup->ipv6_src[0] = tuple->source.prefix;
	lookup->ipv6_src[1] = tuple->source.prefix >> 32;
	lookup->ipv6_src[2] = tuple->source.rest;
	lookup->ipv6_src[3] = tuple->source.rest >> 32;
	lookup->ipv6_dst[0] = tuple->destination.prefix;
	lookup->ipv6_dst[1] = tuple->destination.prefix >> 32;
	lookup->ipv6_dst[2] = tuple->destination.rest;
	lookup->ipv6_dst[3] = tuple->destination.rest >> 32;
	return bpf_fib_lookup(ctx, lookup, sizeof(*lookup), lookup_by_mark(lookup, mark));
}

/* The next hop of the route that was found in place. */
INLINE u32 evaluate6_next_hop(hook_buffer *buffer, struct route6_path *path, const struct ipv6_tuple *tuple)
{
	u64 fib6_nh = fib6_single_hop(path->common.info);

	BECAUSE(!fib6_nh, MULTIPATH);
	path->common.hop = KADDR(struct fib6_nh, fib6_nh, nh_common);
	struct fib_nh_common *hop = KOBJ(struct fib_nh_common, path->common.hop);
	u32 family = KGET(u8, hop, nhc_gw_family);
	u64 gateway = KADDR(struct fib_nh_common, path->common.hop, nhc_gw.ipv4);

	BECAUSE(KGET(u8, hop, nhc_flags) & HOP_UNUSABLE, ROUTE_SPECIAL);
	BECAUSE(fib6_hop_is_others(KOBJ(struct net, CONSTANT(NET)), buffer, path->common.info,
				   path->common.hop),
		ROUTE_SPECIAL);
	BECAUSE(KGET(u64, hop, nhc_lwtstate), ROUTE_SPECIAL);
	BECAUSE(KLOAD(u64, KADDR(struct fib6_nh, fib6_nh, rt6i_exception_bucket)), ROUTE_SPECIAL);
	BECAUSE(family && family != FAMILY_INET6, ROUTE_SPECIAL);
	path->common.departure = KGET(u64, hop, nhc_dev);
	path->gateway = tuple->destination;
	if (family)
		path->gateway = (struct ipv6_address){KLOAD(u64, gateway), KLOAD(u64, gateway + 8)};
	return REASON_NONE;
}

/* It must be the one that the kernel's lookup has named. */
INLINE u32 evaluate6_hop(hook_buffer *buffer, struct route6_path *path, const struct bpf_fib_lookup *lookup,
			 const struct ipv6_tuple *tuple)
{
	UNLESS_BECAUSE(evaluate6_next_hop(buffer, path, tuple));
	BECAUSE(KLOAD(u32, KADDR(struct net_device, path->common.departure, ifindex)) != lookup->ifindex,
		UNPROVED);
	BECAUSE((u32)path->gateway.prefix != lookup->ipv6_dst[0] ||
			path->gateway.prefix >> 32 != lookup->ipv6_dst[1] ||
			(u32)path->gateway.rest != lookup->ipv6_dst[2] ||
			path->gateway.rest >> 32 != lookup->ipv6_dst[3],
		UNPROVED);
	return REASON_NONE;
}

/* Without rules of its own, a namespace looks into the table of local addresses first. */
INLINE struct search route6_usual(const struct ipv6_tuple *tuple)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u64 first = host_order(tuple->destination.prefix), second = host_order(tuple->destination.rest);
	u64 none = KGET(u64, net, ipv6.fib6_null_entry);

	if (bpf_core_field_exists(struct net, ipv6.fib6_local_tbl)) {
		struct search local =
			fib6_find(fib6_root(KGET(u64, net, ipv6.fib6_local_tbl)), first, second);
		u64 node = found_or_linux(local);

		if (search_in_doubt(local))
			return local;
		if (node && KLOAD(u64, KADDR(struct fib6_node, node, leaf)) != none)
			return search_none();
	}
	return fib6_find(fib6_root(KGET(u64, net, ipv6.fib6_main_tbl)), first, second);
}

/* As route_in_place(): struct fib6_node *. */
NOINLINE u64 route6_in_place(hook_context *ctx, u64 device)
{
	struct search search = search_doubt();
	struct ipv6 ip;

	if (!route6_parse(ctx, &ip, TAGS_MOST))
		return search.answer;
	if (inet6_rules(KOBJ(struct net, CONSTANT(NET))))
		search = policy6_find(device, &ip.tuple, routed_mark());
	else
		search = route6_usual(&ip.tuple);
	return search.answer;
}

/* What was found in place is a route, and the only one that may be taken. */
INLINE u32 evaluate6_in_place(struct route6_path *path, struct search found)
{
	BECAUSE(search_in_doubt(found) && inet6_rules(KOBJ(struct net, CONSTANT(NET))), RULES);
	SOUGHT(path->common.alias, found, UNPROVED);
	path->common.info = fib6_only_route(path->common.alias);
	BECAUSE(!path->common.info, MULTIPATH);
	struct fib6_info *route = KOBJ(struct fib6_info, path->common.info);

	BECAUSE(KGET(u64, route, fib6_node) ^ path->common.alias, UNPROVED);
	BECAUSE(fib6_length(path->common.info) !=
			KLOAD(u16, KADDR(struct fib6_node, path->common.alias, fn_bit)),
		UNPROVED);
	BECAUSE(KGET(u8, route, fib6_type) != ROUTE_UNICAST, UNPROVED);
	BECAUSE(fib6_expired(route), ROUTE_SPECIAL);
	return REASON_NONE;
}

INLINE u32 evaluate6_route(hook_context *ctx, const struct ipv6_tuple *tuple, struct search found,
			   struct route6_path *path)
{
	struct bpf_fib_lookup lookup;
	long answer = route6_lookup(ctx, &lookup, path->common.ifindex, tuple,
				    inet6_rules(KOBJ(struct net, CONSTANT(NET))) ? routed_mark() : 0);

	if (answer == BPF_FIB_LKUP_RET_NO_NEIGH || answer == 0) {
		UNLESS_BECAUSE(evaluate6_in_place(path, found));
		UNLESS_BECAUSE(evaluate6_hop(hook_kernel_buffer(ctx), path, &lookup, tuple));
		BECAUSE(path->common.departure == path->common.arrival, SAME_DEVICE);
	}
	UNLESS_BECAUSE(route_refused(answer));
	path->egress_inet6 = inet6_device(KOBJ(struct net_device, path->common.departure));
	BECAUSE(inet6_disabled(path->egress_inet6), ROUTE_SPECIAL);
	SOUGHT(path->common.neighbour,
	       neighbour6_find(path->egress_inet6, path->common.departure, path->gateway.prefix,
			       path->gateway.rest),
	       NEIGHBOUR);
	BECAUSE(neighbour_unfit(KOBJ(struct neighbour, path->common.neighbour), path->common.departure),
		NEIGHBOUR);
	path->common.destination = neighbour_address(path->common.neighbour);
	BECAUSE(neighbour_is_group(path->common.destination), MULTICAST);
	BECAUSE((path->common.destination & MAC_MASK) != lookup_address(&lookup), UNPROVED);
	return REASON_NONE;
}

/* What the MTU is made of: the egress device's for IPv6, and above it the route's metric. */
INLINE u64 route6_mtus(u64 inet6, u64 metrics)
{
	return (u64)metric_mtu(metrics) << 32 | KLOAD(u32, KADDR(struct inet6_dev, inet6, cnf.mtu6));
}

/* Remembers where the parts of the proof lie; each frame looks there again. */
INLINE u32 route6_fill(struct tna_route6 *route6, const struct ipv6_tuple *tuple,
		       const struct route6_path *path, u64 epoch)
{
	UNLESS_BECAUSE(route_fill(&route6->route, &path->common, epoch));
	route6->route.mtus = path->mtus;
	route6->route.table = KLOAD(u64, KADDR(struct fib6_info, path->common.info, fib6_table));
	route6->route.policy = policy6_followed(KOBJ(struct net, CONSTANT(NET)));
	route6->route.mark = route6->route.policy ? routed_mark() : 0;
	route6->source_prefix = tuple->source.prefix;
	route6->source_rest = tuple->source.rest;
	route6->destination_prefix = tuple->destination.prefix;
	route6->destination_rest = tuple->destination.rest;
	route6->gateway_prefix = path->gateway.prefix;
	route6->gateway_rest = path->gateway.rest;
	route6->metrics = path->metrics;
	route6->egress_inet6 = path->egress_inet6;
	return REASON_NONE;
}

/*
 * The slot table's epoch, and above it the generation of the routes: each change moves it but the deletion
 * of a route, after which that route is no longer linked.
 */
INLINE u64 route6_epoch(struct net *net)
{
	u64 word = KGET(u32, net, ipv6.fib6_sernum.counter);

	/* moves after the other, and after the route that looks at sources is there (fib6_add()) */
	if (bpf_core_field_exists(struct net, ipv6.fib6_routes_require_src))
		word ^= KGET(u32, net, ipv6.fib6_routes_require_src) << 16;
	return word << 32 | home.epoch;
}

/* As route_evaluate(). */
NOINLINE u32 route6_evaluate(hook_context *ctx, struct tna_route6 *route6, const struct tna_route_stack *part,
			     u64 found, u64 epoch)
{
	struct route6_path path = {.common.port = hook_ingress_device(hook_kernel_buffer(ctx))};
	struct ipv6 ip;

	BECAUSE(!route6_parse(ctx, &ip, TAGS_MOST), SHORT);
	path.common.arrival =
		route_arrival(path.common.port, TAGS ? arriving_tags(part, ip.ethernet.tags) : 0);
	path.common.ifindex = KLOAD(u32, KADDR(struct net_device, path.common.arrival, ifindex));
	path.inet6 = inet6_device(KOBJ(struct net_device, path.common.arrival));
	UNLESS_BECAUSE(evaluate6_settings(ctx, &path));
	UNLESS_BECAUSE(evaluate6_header(&ip, path.common.arrival));
	UNLESS_BECAUSE(evaluate6_route(ctx, &ip.tuple, (struct search){found}, &path));
	path.metrics = KLOAD(u64, KADDR(struct fib6_info, path.common.info, fib6_metrics));
	path.mtus = route6_mtus(path.egress_inet6, path.metrics);
	path.common.mtu = route_mtu(path.mtus, path.mtus >> 32);
	BECAUSE(packet_segment(ctx, ip.total, IPV6_HEADER_LEN, ip.tuple.protocol) > path.common.mtu,
		ROUTE_MTU);
	BECAUSE(several_cut(ctx, ip.frame_len, ip.total), IP_HEADER);
	return route6_fill(route6, &ip.tuple, &path, epoch);
}

/* As evaluate_marks(); of sources nothing is asked. */
NOINLINE u32 evaluate6_marks(const struct tna_route *route)
{
	BECAUSE(route_marks_matter(route, route->policy, 0), MARKED);
	return REASON_NONE;
}

#endif
