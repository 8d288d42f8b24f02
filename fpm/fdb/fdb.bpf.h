/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_FDB_H
#define TNA_FDB_H

/* The bridge's forwarding database, read in place. */

#include "kernel/rhashtable.bpf.h"
#include "base/constant.bpf.h"

/* enum in net/bridge/br_private.h: bits of net_bridge_fdb_entry.flags */
#define FDB_LOCAL (1u << 0)
#define FDB_NOTIFY_INACTIVE (1u << 7)
#define FDB_LOCKED (1u << 8)

APART u64 fdb_search(u64 bridge, u64 key)
{
	return rhash_find(KADDR(struct net_bridge, bridge, fdb_hash_tbl), key, sizeof(key),
			  bpf_core_field_offset(struct net_bridge_fdb_entry, rhnode),
			  bpf_core_field_offset(struct net_bridge_fdb_entry, key))
		.answer;
}

/* The entry for a key (MAC address, VLAN id in the two upper bytes). */
INLINE struct search fdb_find(u64 bridge, u64 key)
{
	return (struct search){fdb_search(bridge, key)};
}

/*
 * The same for two keys. Nearly all entries are the first of their chains: both are looked for there at
 * once, so that the memory that they lie in is fetched at once.
 */
INLINE void fdb_find_both(u64 bridge, u64 key, u64 other_key, struct search *entry, struct search *other)
{
	u64 table = KADDR(struct net_bridge, bridge, fdb_hash_tbl);
	u64 buckets = KLOAD(u64, KADDR(struct rhashtable, table, tbl));
	u64 node_offset = bpf_core_field_offset(struct net_bridge_fdb_entry, rhnode);
	u64 first = rhash_first(rhash_bucket(buckets, key, sizeof(key))) - node_offset;
	u64 other_first = rhash_first(rhash_bucket(buckets, other_key, sizeof(key))) - node_offset;
	u64 word = KLOAD(u64, KADDR(struct net_bridge_fdb_entry, first, key)) ^ key;

	COLLECT(word, KLOAD(u64, KADDR(struct net_bridge_fdb_entry, other_first, key)) ^ other_key);
	COLLECT(word, KLOAD(u32, KADDR(struct bucket_table, buckets, nest)));
	COLLECT(word, ~(first & other_first) >> 63); /* an empty bucket */
	*entry = likely(!word) ? search_found(first) : fdb_find(bridge, key);
	*other = likely(!word) ? search_found(other_first) : fdb_find(bridge, other_key);
}

/*
 * Proves in place that what used to be an entry still is the entry of this key: RCU keeps the memory
 * readable, fdb_delete() unlinks an entry (hlist_del_init_rcu) before the memory is given back. And
 * that it has none of some flags (of the lowest eight).
 */
INLINE u64 fdb_entry_gone(struct net_bridge_fdb_entry *entry, u64 key, u64 bad_flags)
{
	u64 word = KGET(u64, entry, key) ^ key;

	if (likely(CONSTANT(PACKED))) {
		/* pprev but for its lowest byte, and the flags' lowest byte above it */
		u64 both = KSTRADDLE(struct net_bridge_fdb_entry, entry, fdb_node.pprev, 1);

		COLLECT(word, (both & (bad_flags << 56 | LIST_POINTER_TOP << 48)) ^ LIST_POINTER_TOP << 48);
		return word;
	}
	COLLECT(word, KGET(u64, entry, fdb_node.pprev) >> 56 ^ LIST_POINTER_TOP);
	COLLECT(word, KGET(u64, entry, flags) & bad_flags);
	return word;
}

#endif
