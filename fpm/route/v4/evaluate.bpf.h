/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V4_EVALUATE_H
#define TNA_ROUTE_V4_EVALUATE_H

/*
 * What Linux would do with a packet, evaluated from nothing: every test one by one, each with its
 * reason. Either there is a reason to leave the frame to Linux, or the route cache learns where the
 * proof's parts lie.
 */

#include "route/common/cache.bpf.h"
#include "route/common/neighbour.bpf.h"
#include "route/v4/parse.bpf.h"
#include "route/v4/policy.bpf.h"

/* From uapi headers that may be older than the kernel, or that pull in too much. */
#define FIB_SKIP_NEIGHBOUR (1u << 2) /* BPF_FIB_LOOKUP_SKIP_NEIGH, since 6.3 */
#define SCOPE_LINK 253               /* RT_SCOPE_LINK */
#define FAMILY_INET 2                /* AF_INET */
#define METRIC_LOCK 0                /* RTAX_LOCK, which counts from 1 */
#define METRIC_LOCK_MTU (1u << 2)    /* 1 << RTAX_MTU */
#define LOCKED_MTU 576               /* ip_dst_mtu_maybe_forward() */

/*
 * The kernel's own lookup for a packet with these addresses, as they lie in the header; the MAC addresses
 * only where the neighbour is asked for.
 */
INLINE long route_lookup(hook_context *ctx, struct bpf_fib_lookup *lookup, u32 ifindex, u32 start,
			 u64 addresses, u32 flags, u32 mark)
{
	*lookup = (struct bpf_fib_lookup){.family = FAMILY_INET, .ifindex = ifindex};
	lookup->ipv4_src = addresses;
	lookup->ipv4_dst = addresses >> 32;
	lookup->tos = start >> 24;
	flags |= lookup_by_mark(lookup, mark);
	return bpf_fib_lookup(ctx, lookup, sizeof(*lookup), flags);
}

/*
 * Whether a lookup for a source has found no route. Of a socket buffer it also says that the packet would be
 * too large for where the source is, which nobody asks.
 */
INLINE int source_unrouted(long answer)
{
	return answer && answer != BPF_FIB_LKUP_RET_FRAG_NEEDED;
}

/* The addresses of a packet the other way. */
INLINE u64 addresses_back(u64 addresses)
{
	return addresses << 32 | addresses >> 32;
}

/*
 * The struct fib_alias * for a packet that has come by a device. Apart from what evaluates the rest: each of
 * them takes much of the stack.
 */
NOINLINE u64 route_in_place(hook_context *ctx, u64 device)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	struct search search = search_doubt();
	struct ipv4 ip;

	if (!route_parse(ctx, &ip, TAGS_MOST))
		return search.answer;
	if (policy_custom(net))
		search = policy_find(device, ip.tuple.addresses, routed_mark());
	else
		search = fib_find(KGET(u64, net, ipv4.fib_main), bpf_ntohl(ip.tuple.addresses >> 32));
	return search.answer;
}

INLINE u32 evaluate_settings(hook_context *ctx, const struct route_path *path)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));

	BECAUSE(hook_routed_by_past(hook_kernel_buffer(ctx), policy_custom(net)), MARKED);
	BECAUSE(!CONSTANT(RULES) && guard_inet_hooks(net), IP_NETFILTER);
	BECAUSE(guard_xfrm(net), XFRM);
	BECAUSE(!path->inet || inet_not_forwarding(KOBJ(struct in_device, path->inet)), NOT_FORWARDING);
	BECAUSE(policy_custom(net) && !policy_plain(net), RULES);
	BECAUSE(policy_custom(net) && !marks_are_asked_for() && routed_mark(), RULES);
	return REASON_NONE;
}

/* Whether an address is one that is routed, in network order. */
INLINE int ipv4_address_routed(u32 address)
{
	u32 first = address & 0xff;

	return address && address != 0xffffffff && first != 127 && (first & 0xf0) != 224;
}

INLINE u32 evaluate_header(const struct ipv4 *ip, u64 device)
{
	BECAUSE((ip->start & 0xffff) != bpf_htons(ETH_P_IP), NOT_IP);
	BECAUSE(ip->ethernet.mac != device_address(KOBJ(struct net_device, device)), OTHER_STATION);
	BECAUSE((ip->start >> 16 & 0xff) != IPV4_START_PLAIN, IP_HEADER);
	BECAUSE(ip->checksum || ipv4_length_wrong(ip), IP_HEADER);
	BECAUSE(!ipv4_address_routed(ip->tuple.addresses) || !ipv4_address_routed(ip->tuple.addresses >> 32),
		IP_ADDRESS);
	BECAUSE(ipv4_expires(ip), TTL);
	return REASON_NONE;
}

/* The next hop that was found in place; it must be the one that the kernel's lookup has named. */
INLINE u32 evaluate_hop(struct route_path *path, const struct bpf_fib_lookup *lookup, u32 to)
{
	path->info = KLOAD(u64, KADDR(struct fib_alias, path->alias, fa_info));
	path->hop = fib_single_hop(path->info);
	BECAUSE(!path->hop, MULTIPATH);
	struct fib_nh_common *hop = KOBJ(struct fib_nh_common, path->hop);
	u32 family = KGET(u8, hop, nhc_gw_family);

	BECAUSE(fib_dead(path->info), ROUTE_SPECIAL);
	BECAUSE(fib_hop_is_others(KOBJ(struct net, CONSTANT(NET)), path->info, path->hop), ROUTE_SPECIAL);
	BECAUSE(KGET(u8, hop, nhc_flags) & HOP_UNUSABLE, ROUTE_SPECIAL);
	BECAUSE(KGET(u64, hop, nhc_lwtstate) | KGET(u64, hop, nhc_exceptions), ROUTE_SPECIAL);
	BECAUSE(family && (family != FAMILY_INET || KGET(u8, hop, nhc_scope) != SCOPE_LINK), ROUTE_SPECIAL);
	path->departure = KGET(u64, hop, nhc_dev);
	path->gateway = family ? KGET(u32, hop, nhc_gw.ipv4) : to;
	BECAUSE(KLOAD(u32, KADDR(struct net_device, path->departure, ifindex)) != lookup->ifindex, UNPROVED);
	BECAUSE(path->gateway != lookup->ipv4_dst, UNPROVED);
	return REASON_NONE;
}

/* What was found in place; none, if it is not known. */
INLINE u32 evaluate_in_place(struct search found, u64 *alias)
{
	BECAUSE(search_in_doubt(found) && policy_custom(KOBJ(struct net, CONSTANT(NET))), RULES);
	SOUGHT(*alias, found, UNPROVED);
	return REASON_NONE;
}

INLINE u32 evaluate_route(hook_context *ctx, const struct ipv4_tuple *tuple, u32 start, struct search found,
			  struct route_path *path)
{
	u32 to = tuple->addresses >> 32;
	struct bpf_fib_lookup lookup;
	long answer = route_lookup(ctx, &lookup, path->ifindex, start, tuple->addresses, 0,
				   policy_custom(KOBJ(struct net, CONSTANT(NET))) ? routed_mark() : 0);

	if (answer == BPF_FIB_LKUP_RET_NO_NEIGH || answer == 0) {
		UNLESS_BECAUSE(evaluate_in_place(found, &path->alias));
		struct fib_alias *alias = KOBJ(struct fib_alias, path->alias);

		BECAUSE(KGET(u8, alias, fa_dscp), ROUTE_SPECIAL);
		BECAUSE(KGET(u8, alias, fa_type) != ROUTE_UNICAST, UNPROVED);
		UNLESS_BECAUSE(evaluate_hop(path, &lookup, to));
		BECAUSE(path->departure == path->arrival &&
				inet_redirects(KOBJ(struct net, CONSTANT(NET)),
					       KOBJ(struct in_device, path->inet)),
			SAME_DEVICE);
	}
	UNLESS_BECAUSE(route_refused(answer));
	SOUGHT(path->neighbour, neighbour_find(path->departure, path->gateway), NEIGHBOUR);
	BECAUSE(neighbour_gone(KOBJ(struct neighbour, path->neighbour), path->departure, path->gateway),
		NEIGHBOUR);
	path->destination = neighbour_address(path->neighbour);
	BECAUSE(neighbour_is_group(path->destination), MULTICAST);
	BECAUSE((path->destination & MAC_MASK) != lookup_address(&lookup), UNPROVED);
	return REASON_NONE;
}

/* A source that is routed by a device with this number: whether a filter lets it in by where it came. */
INLINE u32 evaluate_filter(u64 reverse_path, u64 arrival, u32 ifindex)
{
	u64 inet = inet_device(KOBJ(struct net_device, arrival));
	s32 filter = reverse_path_filter(reverse_path);

	if (!filter || ifindex == KLOAD(u32, KADDR(struct net_device, arrival, ifindex)))
		return REASON_NONE;
	BECAUSE(filter == 1, REVERSE_PATH);
	BECAUSE(!KLOAD(u64, KADDR(struct in_device, inet, ifa_list)), REVERSE_PATH);
	return REASON_NONE;
}

/*
 * fib_validate_source(): the source must be routed, not one of this host's addresses; with a strict
 * filter by the port that the packet came in by, with a loose one at all. Where there is no filter Linux
 * forwards for sources without a route as well; here they are slow. And it does not ask the route then
 * whether the source is its own: own_address.bpf.h.
 */
INLINE u32 route_evaluate_source(hook_context *ctx, const struct ipv4_tuple *tuple, u32 start,
				 struct route_path *path)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	struct bpf_fib_lookup lookup;

	path->reverse_path = inet_reverse_path(net, KOBJ(struct in_device, path->inet));
	if (policy_custom(net))
		return REASON_NONE; /* route_evaluate_policy_source() */
	BECAUSE(source_unrouted(route_lookup(ctx, &lookup, path->ifindex, start,
					     addresses_back(tuple->addresses), FIB_SKIP_NEIGHBOUR, 0)),
		REVERSE_PATH);
	return evaluate_filter(path->reverse_path, path->arrival, lookup.ifindex);
}

/*
 * The struct fib_alias * of a packet's source where there are routing rules: Linux looks for the route of one
 * the other way, that comes in where this one leaves; whatever the filter. The packet's route has been filled
 * in.
 */
NOINLINE u64 route_source_in_place(struct tna_route *route)
{
	u64 device = route->egress_dev;

	if (route->names)
		route->names = name_number(route->names, device); /* before it is asked for */
	return policy_find(device, addresses_back(route->addresses), 0).answer;
}

/* As route_evaluate_source(), of what was found in place. */
NOINLINE u32 route_evaluate_policy_source(hook_context *ctx, const struct tna_route *route,
					  const struct tna_route_stack *part, u64 found)
{
	struct net_device *departure = KOBJ(struct net_device, route->egress_dev);
	u64 back = addresses_back(route->addresses), alias;
	struct bpf_fib_lookup lookup;

	BECAUSE(guard_vrf(departure), VRF);
	UNLESS_BECAUSE(evaluate_in_place((struct search){found}, &alias));
	BECAUSE(KLOAD(u8, KADDR(struct fib_alias, alias, fa_type)) != ROUTE_UNICAST, REVERSE_PATH);
	BECAUSE(source_unrouted(route_lookup(ctx, &lookup, KGET(u32, departure, ifindex), route->start, back,
					     FIB_SKIP_NEIGHBOUR, 0)),
		REVERSE_PATH);
	u64 info = KLOAD(u64, KADDR(struct fib_alias, alias, fa_info));
	u64 hop = fib_single_hop(info);

	BECAUSE(!hop, MULTIPATH);
	BECAUSE(hop_ifindex(KOBJ(struct fib_nh_common, hop)) != lookup.ifindex, UNPROVED);
	return evaluate_filter(route->reverse_path, known_arrival(route, part), lookup.ifindex);
}

/*
 * The same of IPv4, where a lock without an MTU stands for the smallest one that all hosts take
 * (ip_mtu_locked(), of routes by a gateway; with others it is just slow).
 */
INLINE u32 metric_mtu_locked(u64 metrics)
{
	u32 mtu = metric_mtu(metrics);
	u32 lock = KLOAD(u32, KADDR(struct dst_metrics, metrics, metrics[METRIC_LOCK]));

	return !mtu && lock & METRIC_LOCK_MTU ? LOCKED_MTU : mtu;
}

/* Addresses differ in their last bytes, which are the highest of a number as it lies in the header. */
INLINE u32 ipv4_index(const struct ipv4_tuple *tuple)
{
	return flow_index(tuple->addresses ^ tuple->addresses >> 35, 0, 0);
}

/*
 * The slot table's epoch, and above it the generation of the routes: rt_cache_flush() moves it after
 * each change of routes, next hops, rules, addresses and links.
 */
INLINE u64 route_epoch(struct net *net)
{
	return (u64)KGET(u32, net, ipv4.rt_genid.counter) << 32 | home.epoch;
}

/*
 * Where a packet is routed to whose arrival has been evaluated: a reason to leave the frame to Linux; or
 * none, and the route is filled in but for its departure. `found` is what route_in_place() has said, and
 * `epoch` what it was before.
 */
NOINLINE u32 route_evaluate(hook_context *ctx, struct tna_route *route, const struct tna_route_stack *part,
			    u64 found, u64 epoch)
{
	struct route_path path = {.port = hook_ingress_device(hook_kernel_buffer(ctx))};
	struct ipv4 ip;

	BECAUSE(!route_parse(ctx, &ip, TAGS_MOST), SHORT);
	path.arrival = route_arrival(path.port, TAGS ? arriving_tags(part, ip.ethernet.tags) : 0);
	path.ifindex = KLOAD(u32, KADDR(struct net_device, path.arrival, ifindex));
	path.inet = inet_device(KOBJ(struct net_device, path.arrival));
	UNLESS_BECAUSE(evaluate_settings(ctx, &path));
	UNLESS_BECAUSE(evaluate_header(&ip, path.arrival));
	UNLESS_BECAUSE(evaluate_route(ctx, &ip.tuple, ip.start, (struct search){found}, &path));
	UNLESS_BECAUSE(route_evaluate_source(ctx, &ip.tuple, ip.start, &path));
	path.mtu = route_mtu(KLOAD(u32, KADDR(struct net_device, path.departure, mtu)),
			     metric_mtu_locked(KLOAD(u64, KADDR(struct fib_info, path.info, fib_metrics))));
	BECAUSE(packet_segment(ctx, ip.total, IPV4_HEADER_LEN, ip.tuple.protocol) > path.mtu, ROUTE_MTU);
	BECAUSE(several_cut(ctx, ip.frame_len, ip.total), IP_HEADER);
	UNLESS_BECAUSE(route_fill(route, &path, epoch));
	route->addresses = ip.tuple.addresses;
	route->start = ip.start;
	route->mark = policy_custom(KOBJ(struct net, CONSTANT(NET))) ? routed_mark() : 0;
	return REASON_NONE;
}

/* For a packet whose route and departure have been filled in. */
NOINLINE u32 evaluate_marks(const struct tna_route *route, const struct tna_route_stack *part)
{
	BECAUSE(route_marks_matter(route, policy_custom(KOBJ(struct net, CONSTANT(NET))),
				   known_arrival(route, part)),
		MARKED);
	return REASON_NONE;
}

#endif
