/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_TEST_SEARCHES_H
#define TNA_TEST_SEARCHES_H

#include <linux/types.h>

/* Where the fields lie of which the searches' objects are made. */
enum place {
	FIB_TABLE_DATA,
	FIB_NODE_KEY,
	FIB_NODE_POS,
	FIB_NODE_BITS,
	FIB_NODE_CHILDREN,
	FIB_ALIAS_LIST,
	FIB_ALIAS_SLEN,
	RHASH_TABLE,
	RHASH_SIZE,
	RHASH_NEST,
	RHASH_FUTURE,
	RHASH_BUCKETS,
	DEVICE_INET,
	INET_PARAMETERS,
	INET6_PARAMETERS,
	PARAMETERS_TABLE,
	NEIGHBOURS_HASH,
	HASH_BUCKETS,
	HASH_SHIFT,
	NEIGHBOUR_DEVICE,
	NEIGHBOUR_KEY,
	FIB6_BIT,
	FIB6_FLAGS,
	FIB6_LEFT,
	FIB6_PARENT,
	FIB6_LEAF,
	FIB6_LENGTH,
	PLACES
};

enum kind { KIND_NONE, KIND_FIB, KIND_RHASH, KIND_NEIGHBOUR, KIND_NEIGHBOUR6, KIND_FIB6 };

#define MEMORY_WORDS 65536

struct searches_state {
	__u64 memory[MEMORY_WORDS];
	__u64 memory_address;
	__u64 where; /* by address: the table, the root, or the device */
	__u64 key;
	__u64 answer;
	__u32 kind;
	__u32 places[PLACES];
};

#endif
