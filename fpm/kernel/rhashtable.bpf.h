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

#include "kernel/access.h"

/* Longer chains than this mean that the table is being grown; the frame is left to Linux. */
#define RHASH_CHAIN_MAX 24

#define LIST_POINTER_TOP 0xffULL /* the top byte of every kernel address: a list's pointer while linked */

INLINE u32 rotate(u32 value, int bits)
{
	return value << bits | value >> (32 - bits);
}

/*
 * jhash() of a key of up to eight bytes, which is jhash2() of two words (include/linux/jhash.h); Bob
 * Jenkins' final mix, in the public domain.
 */
INLINE u32 rhash_hash(u64 key, u32 length, u32 seed)
{
	u32 a = 0xdeadbeef + length + seed, b = a, c = a;

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

/* The address of the first node for a key in a table's bucket, 0 if there is none. */
INLINE u64 rhash_first(u64 buckets, u64 key, u32 length)
{
	struct bucket_table *table = KOBJ(struct bucket_table, buckets);
	u32 size = KGET(u32, table, size), seed = KGET(u32, table, hash_rnd);
	u64 bucket = KADDR(struct bucket_table, buckets, buckets);

	return KLOAD(u64, bucket + 8ULL * (rhash_hash(key, length, seed) & (size - 1))) & ~1ULL;
}

/*
 * The address of the entry with a key of `length` bytes, 0 if there is none; its node and its key lie at
 * these offsets. While the table is being resized, entries are in one of two tables.
 */
INLINE u64 rhash_find(u64 table, u64 key, u32 length, u64 node_offset, u64 key_offset)
{
	u64 address = KLOAD(u64, KADDR(struct rhashtable, table, tbl));
	u64 mask = ~0ULL >> (64 - 8 * length);

	for (int round = 0; round < 2 && address; round++) {
		struct bucket_table *buckets = KOBJ(struct bucket_table, address);
		u64 future = KGET(u64, buckets, future_tbl);

		if (KGET(u32, buckets, nest))
			return 0;
		u64 node = rhash_first(address, key, length);

		for (int i = 0; i < RHASH_CHAIN_MAX && node && !(node & 1); i++) {
			u64 entry = node - node_offset;

			if ((KLOAD(u64, entry + key_offset) & mask) == key)
				return entry;
			node = KLOAD(u64, node);
		}
		address = future;
	}
	return 0;
}

#endif
