/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V4_FIB_H
#define TNA_ROUTE_V4_FIB_H

/*
 * Where the kernel keeps a route: a search in its trie of the main table (net/ipv4/fib_trie.c).
 *
 * bpf_fib_lookup() does not say whether the route has several next hops, an MTU, or exceptions that ICMP
 * brought, nor where a frame can see that the route is still there. Whatever is remembered for a packet's
 * addresses was found by both, which must name the same next hop (evaluate.bpf.h). Packets to addresses that
 * are not remembered go by what is found here alone, but for one in RARE (next_hop.bpf.h). (bpf_fib_lookup()
 * is needed for one thing more: it marks the route as used, without which the kernel does not move the
 * generation when the route goes.)
 *
 * Nodes with children have bits > 0 and are indexed by key bits [pos, pos + bits); a leaf holds all
 * routes whose prefix has the same address, the longest first.
 */

#include "kernel/access.h"
#include "kernel/inet_types.h"
#include "kernel/loop.bpf.h"
#include "base/constant.bpf.h"

/*
 * Nodes and routes that are looked at for one address. A trie is not deeper than 16 or so, as nodes grow as
 * soon as half of them would be used; but a search begins again at the top for each prefix of the address
 * that is also the beginning of longer ones, and routes of such prefixes are in its way, with all their
 * metrics. Linux looks at as many, or more: each costs a visit to memory.
 */
#define FIB_TURNS_MAX 256

#define ROUTE_ACCESSED 1 /* FA_S_ACCESSED: its going moves the generation */

/* The next shorter prefix's address: the lowest bit that is set is no longer part of it. 0 has none. */
#define NO_PREFIX (~0ULL)

INLINE u64 fib_shorter(u64 prefix)
{
	return prefix ? prefix & (prefix - 1) : NO_PREFIX;
}

/*
 * The longest prefix of `prefix` that may be at, or beside, a node whose key differs from it in bits from
 * `from` on: below the highest such bit nothing can change that.
 */
INLINE u64 fib_skip(u64 prefix, u64 difference)
{
	difference |= difference >> 1;
	difference |= difference >> 2;
	difference |= difference >> 4;
	difference |= difference >> 8;
	difference |= difference >> 16;
	u64 highest = difference ^ difference >> 1, rest = prefix & ~difference;

	return prefix & highest ? rest : fib_shorter(rest);
}

/* Whether a route is one for an address that differs so from its leaf's key. */
INLINE int fib_alias_matches(u64 alias, u64 difference)
{
	return !(difference >> (KLOAD(u8, KADDR(struct fib_alias, alias, fa_slen)) & 63)); /* 0 to 32 */
}

/* The route that a link of a leaf's list leads to. */
INLINE u64 fib_alias_at(u64 link)
{
	u64 node = KLOAD(u64, link);

	return node ? node - bpf_core_field_offset(struct fib_alias, fa_list) : 0;
}

/* A node's key, and above it the bits that its children are indexed by, in one load where that can be. */
struct fib_node {
	u64 key;
	u32 pos;
	u32 bits;
};

INLINE int fib_node_packed(void)
{
	u64 key = bpf_core_field_offset(struct key_vector, key);

	return bpf_core_field_offset(struct key_vector, pos) == key + 4 &&
	       bpf_core_field_offset(struct key_vector, bits) == key + 5;
}

INLINE struct fib_node fib_node_at(u64 address)
{
	if (likely(CONSTANT(PACKED))) {
		u64 word = KLOAD(u64, KADDR(struct key_vector, address, key));

		return (struct fib_node){(u32)word, word >> 32 & 63, word >> 40 & 63};
	}
	return (struct fib_node){
		KLOAD(u32, KADDR(struct key_vector, address, key)),
		KLOAD(u8, KADDR(struct key_vector, address, pos)) & 63,
		KLOAD(u8, KADDR(struct key_vector, address, bits)) & 63,
	};
}

/*
 * The first leaf that is met and has a route for the address has the longest one: were there a longer one
 * elsewhere, its key would have a bit of `prefix` that the leaf's has not, at which the way would have gone
 * there. Of a leaf's routes, each must have been looked at before a shorter prefix is searched for.
 */
APART u64 fib_search(u64 table, u32 address)
{
	u64 root = KLOAD(u64, KADDR(struct fib_table, table, tb_data));
	u64 first = KLOAD(u64, KADDR(struct key_vector, root, tnode));
	u64 at = first, prefix = address, alias = 0, beside = 0;
	struct search search;

	SEARCH (search, FIB_TURNS_MAX) {
		if (!alias) {
			if (!at || prefix == NO_PREFIX)
				CONCLUDE(search, search_none());
			struct fib_node node = fib_node_at(at);
			u32 above = (node.pos + node.bits) & 63;
			u64 difference = (prefix ^ node.key) >> above << above;

			if (!difference && node.bits) {
				u64 index = prefix >> node.pos & ((1ULL << node.bits) - 1);

				at = KLOAD(u64, KADDR(struct key_vector, at, tnode) + 8 * index);
				if (at)
					continue;
				prefix = prefix >> node.pos << node.pos;
			} else if (!node.bits) {
				beside = address ^ node.key;
				alias = fib_alias_at(KADDR(struct key_vector, at, tnode));
			}
			prefix = difference ? fib_skip(prefix, difference) : fib_shorter(prefix);
			if (!node.bits && prefix == node.key) /* it would lead here again */
				prefix = fib_shorter(prefix);
			at = first;
		}
		if (alias) {
			if (fib_alias_matches(alias, beside))
				CONCLUDE(search, search_found(alias));
			alias = fib_alias_at(KADDR(struct fib_alias, alias, fa_list));
		}
	}
	return search.answer;
}

/* The struct fib_alias * of an address (in host order). */
INLINE struct search fib_find(u64 table, u32 address)
{
	return (struct search){fib_search(table, address)};
}

/* Whether a route's place in the trie is empty: hlist_del_rcu() poisons the link. */
INLINE u64 fib_unlinked(struct fib_alias *alias)
{
	return KGET(u64, alias, fa_list.pprev) >> 56 ^ 0xff;
}

/* The next hop of a route that has just one, as fib_info_nhc(); 0 if it has several. */
INLINE u64 fib_single_hop(u64 info)
{
	struct fib_info *route = KOBJ(struct fib_info, info);
	u64 nexthop = KGET(u64, route, nh);

	if (!nexthop)
		return KGET(u32, route, fib_nhs) == 1 ? KADDR(struct fib_info, info, fib_nh[0].nh_common) : 0;
	if (KLOAD(u8, KADDR(struct nexthop, nexthop, is_group)))
		return 0;
	return KADDR(struct nh_info, KLOAD(u64, KADDR(struct nexthop, nexthop, nh_info)), fib_nhc);
}

#define FIB_DEAD 1u /* RTNH_F_DEAD */

/* Linux passes it over from now on, and unlinks its routes one after the other. */
INLINE u64 fib_dead(u64 info)
{
	return KLOAD(u32, KADDR(struct fib_info, info, fib_flags)) & FIB_DEAD;
}

#define TO_BE_CHECKED 0xffffu /* DST_OBSOLETE_FORCE_CHK */

/*
 * Routes by one next hop that is an object of its own share what that remembers: whether packets are
 * forwarded, and their MTU, is as for the first route that was asked for. Not 0 if that is not known to be
 * this one, or one that does the same.
 */
INLINE u64 fib_hop_is_others(struct net *net, u64 info, u64 hop)
{
	if (!KLOAD(u64, KADDR(struct fib_info, info, nh)))
		return 0;
	u64 cached = KLOAD(u64, KADDR(struct fib_nh_common, hop, nhc_rth_input));
	struct rtable *route = KOBJ(struct rtable, cached);
	u64 word = (KGET(u64, route, dst._metrics) & ~(u64)METRICS_FLAGS) ^
		   KLOAD(u64, KADDR(struct fib_info, info, fib_metrics));

	COLLECT(word, KGET(u16, route, rt_type) ^ ROUTE_UNICAST);
	COLLECT(word, KGET(u32, route, rt_genid) ^ KGET(u32, net, ipv4.rt_genid.counter));
	COLLECT(word, KGET(u16, route, dst.obsolete) ^ TO_BE_CHECKED);
	return word;
}

#endif
