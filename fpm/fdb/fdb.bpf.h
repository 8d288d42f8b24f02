/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_FDB_H
#define TNA_FDB_H

/*
 * The bridge's forwarding database, read in place: a walk through the kernel's rhashtable.
 *
 * This relies on the hash function (jhash2 of the 8-byte key: rhashtable_init() chooses it for keys
 * that are a multiple of 4 bytes and have no hashfn) and on bit 0 of a bucket being its lock. The
 * controller proves both at start by comparing with a netlink dump.
 */

#include "pipeline/constant.bpf.h"

/* Longer chains than this mean that the table is being grown; the frame is left to Linux. */
#define FDB_CHAIN_MAX 24

/* enum in net/bridge/br_private.h: bits of net_bridge_fdb_entry.flags */
#define FDB_LOCAL (1u << 0)
#define FDB_NOTIFY_INACTIVE (1u << 7)
#define FDB_LOCKED (1u << 8)

#define LIST_POINTER_TOP 0xffULL /* the top byte of every kernel address: hlist_node.pprev while linked */

INLINE u32 rotate(u32 value, int bits)
{
	return value << bits | value >> (32 - bits);
}

/* jhash2() of two words (include/linux/jhash.h); Bob Jenkins' final mix, in the public domain. */
INLINE u32 fdb_hash(u64 key, u32 seed)
{
	u32 a = 0xdeadbeef + (2u << 2) + seed, b = a, c = a;

	a += (u32)key;
	b += key >> 32;
	c = (c ^ b) - rotate(b, 14);
	a = (a ^ c) - rotate(c, 11);
	b = (b ^ a) - rotate(a, 25);
	c = (c ^ b) - rotate(b, 16);
	a = (a ^ c) - rotate(c, 4);
	b = (b ^ a) - rotate(a, 14);
	return (c ^ b) - rotate(b, 24);
}

/*
 * The address of the entry for a key (MAC address, VLAN id in the two upper bytes), 0 if there is
 * none. While the table is being resized, entries are in one of two tables.
 */
INLINE u64 fdb_find(u64 bridge, u64 key)
{
	u64 address = KLOAD(u64, KADDR(struct net_bridge, bridge, fdb_hash_tbl.tbl));

	for (int table = 0; table < 2 && address; table++) {
		struct bucket_table *buckets = KOBJ(struct bucket_table, address);
		u32 size = KGET(u32, buckets, size), seed = KGET(u32, buckets, hash_rnd);
		u64 future = KGET(u64, buckets, future_tbl);

		if (KGET(u32, buckets, nest))
			return 0;
		u64 bucket = KADDR(struct bucket_table, address, buckets);
		u64 node = KLOAD(u64, bucket + 8ULL * (fdb_hash(key, seed) & (size - 1))) & ~1ULL;

		for (int i = 0; i < FDB_CHAIN_MAX && node && !(node & 1); i++) {
			u64 entry = node - bpf_core_field_offset(struct net_bridge_fdb_entry, rhnode);

			if (KGET(u64, KOBJ(struct net_bridge_fdb_entry, entry), key) == key)
				return entry;
			node = KLOAD(u64, node);
		}
		address = future;
	}
	return 0;
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
