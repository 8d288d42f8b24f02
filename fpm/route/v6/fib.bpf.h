/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V6_FIB_H
#define TNA_ROUTE_V6_FIB_H

/*
 * Where the kernel keeps an IPv6 route: a search in the binary trie of a table (net/ipv6/ip6_fib.c), for the
 * same reasons as in v4/fib.bpf.h: bpf_fib_lookup() decides, and what is found here must lead to the same
 * next hop.
 *
 * A node tests one bit of the address (fn_bit) and has a child for either value; nodes that hold routes are
 * marked. The way down ends at the node whose prefix, or that of a node above it, is the longest that
 * matches.
 */

#include "kernel/access.h"
#include "kernel/inet_types.h"
#include "kernel/loop.bpf.h"
#include "packet/hook.bpf.h"
#include "packet/ipv6.bpf.h"
#include "kernel/per_cpu.bpf.h"

/* One node for each length of prefixes, 0 to 128: fn_bit grows with each step down. A way up that meets a
 * node while it is taken out of the trie ends as well. */
#define FIB6_DEPTH_MAX 130

/* include/net/ip6_fib.h, include/uapi/linux/ipv6_route.h */
#define FIB6_NODE_ROOT 0x0002u
#define FIB6_NODE_ROUTES 0x0004u
#define FIB6_EXPIRES 0x00400000u

INLINE u64 host_order(u64 number)
{
	return __builtin_bswap64(number);
}

INLINE u64 fib6_root(u64 table)
{
	return KADDR(struct fib6_table, table, tb6_root);
}

INLINE u32 fib6_length(u64 info)
{
	return KLOAD(u32, KADDR(struct fib6_info, info, fib6_dst.plen));
}

/* Whether the first bits of an address (in host order) are those of a struct rt6key. */
INLINE int rt6key_matches(u64 prefix, u64 first, u64 second)
{
	u32 length = KLOAD(u32, KADDR(struct rt6key, prefix, plen));
	u64 above = host_order(KLOAD(u64, prefix)) ^ first,
	    below = host_order(KLOAD(u64, prefix + 8)) ^ second;

	if (length > 64)
		return !(above | below >> ((128 - length) & 63));
	return !length || !(above >> ((64 - length) & 63));
}

/* The same of a route's prefix. */
INLINE int fib6_matches(u64 info, u64 first, u64 second)
{
	return rt6key_matches(KADDR(struct fib6_info, info, fib6_dst), first, second);
}

/* The node below, on the side where the address has its bit. */
INLINE u64 fib6_child(u64 node, u64 first, u64 second)
{
	u32 bit = KLOAD(u16, KADDR(struct fib6_node, node, fn_bit));
	u64 word = bit & 64 ? second : first;

	if (word >> (~bit & 63) & 1)
		return KLOAD(u64, KADDR(struct fib6_node, node, right));
	return KLOAD(u64, KADDR(struct fib6_node, node, left));
}

/* The node where the way down for an address ends. */
INLINE struct search fib6_bottom(u64 root, u64 first, u64 second)
{
	u64 node = root;
	struct search search;

	SEARCH (search, FIB6_DEPTH_MAX) {
		u64 below = fib6_child(node, first, second);

		if (!below)
			CONCLUDE(search, search_found(node));
		node = below;
	}
	return search;
}

APART u64 fib6_search(u64 root, u64 first, u64 second)
{
	struct search search = fib6_bottom(root, first, second);
	u64 node = found_or_linux(search);

	if (!node)
		return search.answer;
	SEARCH (search, FIB6_DEPTH_MAX) {
		u32 flags = KLOAD(u16, KADDR(struct fib6_node, node, fn_flags));
		u64 info = KLOAD(u64, KADDR(struct fib6_node, node, leaf));

		if (flags & FIB6_NODE_ROUTES && info && fib6_matches(info, first, second))
			CONCLUDE(search, search_found(node));
		if (flags & FIB6_NODE_ROOT)
			CONCLUDE(search, search_none());
		node = KLOAD(u64, KADDR(struct fib6_node, node, parent));
	}
	return search.answer;
}

/* The struct fib6_node * with the routes for an address (in host order). */
INLINE struct search fib6_find(u64 root, u64 first, u64 second)
{
	return (struct search){fib6_search(root, first, second)};
}

/*
 * The route that the kernel takes from a node whatever the packet; 0 if there are several that it may choose
 * from (find_rr_leaf()): of the same metric, or because it has gone from one to another.
 */
INLINE u64 fib6_only_route(u64 node)
{
	u64 info = KLOAD(u64, KADDR(struct fib6_node, node, leaf));
	u64 turn = KLOAD(u64, KADDR(struct fib6_node, node, rr_ptr));
	struct fib6_info *route = KOBJ(struct fib6_info, info);
	u64 next = KGET(u64, route, fib6_next);

	if ((turn && turn != info) || KGET(u32, route, fib6_nsiblings))
		return 0;
	if (next && KLOAD(u32, KADDR(struct fib6_info, next, fib6_metric)) == KGET(u32, route, fib6_metric))
		return 0;
	return info;
}

/* The struct fib6_nh * of a route that has just one; 0 if it has several. */
INLINE u64 fib6_single_hop(u64 info)
{
	u64 nexthop = KLOAD(u64, KADDR(struct fib6_info, info, nh));

	if (!nexthop)
		return KADDR(struct fib6_info, info, fib6_nh[0]);
	if (KLOAD(u8, KADDR(struct nexthop, nexthop, is_group)))
		return 0;
	return KADDR(struct nh_info, KLOAD(u64, KADDR(struct nexthop, nexthop, nh_info)), fib_nhc);
}

#define RT6_FORWARDED_NOT (0x0200u | 0x00100000u | 0x80000000u) /* RTF_REJECT, RTF_ANYCAST, RTF_LOCAL */

/* As fib_hop_is_others(); `hop` is the struct fib_nh_common * in a struct fib6_nh. Here each CPU remembers,
 * and so does the route cache; unless Linux hands packets to other CPUs before it routes them. */
INLINE u64 fib6_hop_is_others(struct net *net, hook_buffer *buffer, u64 info, u64 hop)
{
	if (likely(!KLOAD(u64, KADDR(struct fib6_info, info, nh))))
		return 0;
	u64 fib6_nh = hop - bpf_core_field_offset(struct fib6_nh, nh_common);
	u64 place = part_of_cpu(KLOAD(u64, KADDR(struct fib6_nh, fib6_nh, rt6i_pcpu)));

	if (!place || hook_changes_cpu(buffer))
		return 1;
	struct rt6_info *route = KOBJ(struct rt6_info, KLOAD(u64, place));
	u64 word = (KGET(u64, route, dst._metrics) & ~(u64)METRICS_FLAGS) ^
		   KLOAD(u64, KADDR(struct fib6_info, info, fib6_metrics));

	COLLECT(word, KGET(u32, route, rt6i_flags) & RT6_FORWARDED_NOT);
	COLLECT(word,
		KLOAD(u8, KADDR(struct fib6_info, KGET(u64, route, from), fib6_dst)) == 0xff); /* multicast */
	COLLECT(word, KGET(u32, route, sernum) ^ KGET(u32, net, ipv6.fib6_sernum.counter));
	return word;
}

/* Whether this is no longer the route of a node (fib6_del_route() unlinks it, and other memory is no route).
 */
INLINE u64 fib6_gone(struct fib6_info *route, u64 table, u64 node)
{
	u64 word = KGET(u64, route, fib6_table) ^ table;

	COLLECT(word, KGET(u64, route, fib6_node) ^ node);
	return word;
}

/* fib6_check_expired() */
INLINE int fib6_expired(struct fib6_info *route)
{
	return KGET(u32, route, fib6_flags) & FIB6_EXPIRES &&
	       (s64)(KGET(u64, route, expires) - bpf_jiffies64()) < 0;
}

#endif
