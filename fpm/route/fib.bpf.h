/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_FIB_H
#define TNA_ROUTE_FIB_H

/*
 * Where the kernel keeps a route: a search in its trie of the main table (net/ipv4/fib_trie.c).
 *
 * bpf_fib_lookup() does not say whether the route has several next hops, an MTU, or exceptions that ICMP
 * brought, nor where a frame can see that the route is still there. Whatever is remembered for a packet's
 * addresses was found by both, which must name the same next hop (evaluate.bpf.h). Packets to addresses that
 * are not remembered go by what is found here alone, but for one in RARE (find.bpf.h). (bpf_fib_lookup() is
 * needed for one thing more: it marks the route as used, without which the kernel does not move the
 * generation when the route goes.)
 *
 * Nodes with children have bits > 0 and are indexed by key bits [pos, pos + bits); a leaf holds all
 * routes whose prefix has the same address, the longest first.
 */

#include "kernel/access.h"
#include "kernel/inet_types.h"
#include "kernel/loop.bpf.h"
#include "pipeline/constant.bpf.h"

#define FIB_STEPS_MAX 160
#define FIB_ALIASES_MAX 8

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

/* The route of a leaf that an address matches; 0 for none. */
INLINE u64 fib_leaf_match(u64 leaf, u64 difference)
{
	u64 alias = KLOAD(u64, KADDR(struct key_vector, leaf, tnode));

	for (int i = 0; i < FIB_ALIASES_MAX && alias; i++) {
		if (!(difference >> (KLOAD(u8, KADDR(struct fib_alias, alias, fa_slen)) & 63)))
			return alias;
		alias = KLOAD(u64, alias);
	}
	return 0;
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

		return (struct fib_node){(u32)word, word >> 32 & 31, word >> 40 & 31};
	}
	return (struct fib_node){
		KLOAD(u32, KADDR(struct key_vector, address, key)),
		KLOAD(u8, KADDR(struct key_vector, address, pos)) & 31,
		KLOAD(u8, KADDR(struct key_vector, address, bits)) & 31,
	};
}

/*
 * The struct fib_alias * of an address (in host order), 0 if it is not found. The first leaf that is met and
 * has a route for the address has the longest one: were there a longer one elsewhere, its key would have a
 * bit of `prefix` that the leaf's has not, at which the way would have gone there.
 */
NOINLINE u64 fib_find(u64 table, u32 address)
{
	u64 root = KLOAD(u64, KADDR(struct fib_table, table, tb_data));
	u64 first = KLOAD(u64, KADDR(struct key_vector, root, tnode));
	u64 at = first, prefix = address, alias = 0;

	LOOP_BEGIN(step, FIB_STEPS_MAX);
	while (LOOP_TURN(step) && at && prefix != NO_PREFIX) {
		struct fib_node node = fib_node_at(at);
		u64 difference = (prefix ^ node.key) >> (node.pos + node.bits) << (node.pos + node.bits);

		if (!node.bits) {
			alias = fib_leaf_match(at, address ^ node.key);
			if (alias)
				break;
			prefix = difference ? fib_skip(prefix, difference) : fib_shorter(prefix);
			at = first;
		} else if (difference) {
			prefix = fib_skip(prefix, difference);
			at = first;
		} else {
			u64 index = prefix >> node.pos & ((1ULL << node.bits) - 1);

			at = KLOAD(u64, KADDR(struct key_vector, at, tnode) + 8 * index);
			if (!at) {
				prefix = fib_shorter(prefix >> node.pos << node.pos);
				at = first;
			}
		}
	}
	LOOP_END(step);
	return alias;
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

#endif
