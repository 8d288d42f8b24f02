/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_RHASHTABLE_H
#define TNA_KERNEL_RHASHTABLE_H

/*
 * A walk through the kernel's rhashtable.
 *
 * This relies on the hash function (rhashtable_init() without hashfn chooses jhash2 for keys that are a
 * multiple of 4 bytes, jhash for others) and on bit 0 of a bucket being its lock. The controller proves
 * both at start by comparing with netlink dumps.
 */

#include "kernel/loop.bpf.h"

/*
 * Chains are not longer than 16 when something is added (RHT_ELASTICITY: the table is rehashed instead).
 * While entries move to another table, one chain goes on in another's.
 */
#define RHASH_CHAIN_MAX 24

/* One, and the one that takes its place; more only if that one is to be replaced. */
#define RHASH_TABLES_MAX 2

#define LIST_POINTER_TOP 0xffULL /* the top byte of every kernel address: a list's pointer while linked */

INLINE u32 rotate(u32 value, int bits)
{
	return value << bits | value >> (32 - bits);
}

/* The end of jhash() (include/linux/jhash.h); Bob Jenkins' final mix, in the public domain. */
INLINE u32 rhash_mix(u32 a, u32 b, u32 c)
{
	c = (c ^ b) - rotate(b, 14);
	a = (a ^ c) - rotate(c, 11);
	b = (b ^ a) - rotate(a, 25);
	c = (c ^ b) - rotate(b, 16);
	a = (a ^ c) - rotate(c, 4);
	b = (b ^ a) - rotate(a, 14);
	return (c ^ b) - rotate(b, 24);
}

/* jhash() of a key of up to eight bytes, which is jhash2() of two words. */
INLINE u32 rhash_hash(u64 key, u32 length, u32 seed)
{
	u32 begin = 0xdeadbeef + length + seed;

	return rhash_mix(begin + (u32)key, begin + (u32)(key >> 32), begin);
}

/* The address of the bucket of a key in a table. */
INLINE u64 rhash_bucket(u64 buckets, u64 key, u32 length)
{
	struct bucket_table *table = KOBJ(struct bucket_table, buckets);
	u32 size = KGET(u32, table, size), seed = KGET(u32, table, hash_rnd);

	return KADDR(struct bucket_table, buckets, buckets) +
	       8ULL * (rhash_hash(key, length, seed) & (size - 1));
}

/* The address of the first node in a bucket, 0 if there is none. */
INLINE u64 rhash_first(u64 bucket)
{
	return KLOAD(u64, bucket) & ~1ULL;
}

/* The entry with a key in a bucket. A chain ends with the bucket's own address (RHT_NULLS_MARKER()): one that
 * ends otherwise is another's, in which an entry of this one has gone on while it was looked at. */
INLINE struct search rhash_find_in(u64 bucket, u64 key, u64 mask, u64 node_offset, u64 key_offset)
{
	u64 node = rhash_first(bucket);
	struct search search;

	SEARCH_SHORT (search, RHASH_CHAIN_MAX) {
		u64 entry = node - node_offset;

		if (!node || node == (bucket | 1))
			CONCLUDE(search, search_none());
		if (node & 1)
			break;
		if ((KLOAD(u64, entry + key_offset) & mask) == key)
			CONCLUDE(search, search_found(entry));
		node = KLOAD(u64, node);
	}
	return search;
}

/*
 * The entry with a key of `length` bytes; its node and its key lie at these offsets. While the table is being
 * resized, entries are in one of two tables.
 */
INLINE struct search rhash_find(u64 table, u64 key, u32 length, u64 node_offset, u64 key_offset)
{
	u64 address = KLOAD(u64, KADDR(struct rhashtable, table, tbl));
	u64 mask = ~0ULL >> (64 - 8 * length);
	struct search search;

	SEARCH_SHORT (search, RHASH_TABLES_MAX) {
		if (!address)
			CONCLUDE(search, search_none());
		struct bucket_table *buckets = KOBJ(struct bucket_table, address);
		u64 future = KGET(u64, buckets, future_tbl);

		if (KGET(u32, buckets, nest))
			break;
		struct search here =
			rhash_find_in(rhash_bucket(address, key, length), key, mask, node_offset, key_offset);
		if (!search_surely_none(here))
			CONCLUDE(search, here);
		address = future;
	}
	return search;
}

#endif
