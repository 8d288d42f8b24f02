/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_STEER_H
#define TNA_STEER_H

/*
 * What steering to network functions (fpm/steer) and the controller share.
 *
 * Rules are found by tuple space search: rules that look at the same bits of a frame share a mask, and a
 * frame is looked up once for each mask, whatever the number of rules. There are two tables; the one in use
 * is replaced as a whole by writing the other one and changing one number.
 */

#include <linux/types.h>

#define TNA_STEER_MASKS 32
#define TNA_STEER_RULES 10240
#define TNA_STEER_FUNCTIONS 64
#define TNA_STEER_PLACES 256 /* sockets */

/* Each table: first an entry for each hash, behind them those that found theirs taken. */
#define TNA_STEER_HOME_BITS 14
#define TNA_STEER_HOMES (1U << TNA_STEER_HOME_BITS)
#define TNA_STEER_ENTRIES (2 * TNA_STEER_HOMES)
#define TNA_STEER_CHAIN 12 /* entries of one hash, at most */

/*
 * What a frame is looked up by. Addresses as they lie in the header (of IPv4 in the first half of a pair of
 * words), all else in host order.
 */
#define TNA_STEER_WORDS 6
enum tna_steer_word {
	TNA_STEER_WHERE, /* ifindex, and above it the VLAN and the EtherType */
	TNA_STEER_WHAT,  /* ports, flags, protocol, ... */
	TNA_STEER_FROM,  /* two words each */
	TNA_STEER_TO = TNA_STEER_FROM + 2,
};
/* The second halves of addresses, which few masks look at. */
#define TNA_STEER_SECOND(word) ((word) == TNA_STEER_FROM + 1 || (word) == TNA_STEER_TO + 1)
#define TNA_STEER_VLAN_SHIFT 32
#define TNA_STEER_TAGGED 0x1000ULL /* beside the VLAN's number */
#define TNA_STEER_TYPE_SHIFT 48
#define TNA_STEER_TO_PORT_SHIFT 0
#define TNA_STEER_FROM_PORT_SHIFT 16
#define TNA_STEER_TCP_FLAGS_SHIFT 32
#define TNA_STEER_PROTOCOL_SHIFT 40
#define TNA_STEER_VERSION_SHIFT 48
#define TNA_STEER_PORTS_KNOWN (1ULL << 56) /* TCP's or UDP's header is there; not in later fragments */

/*
 * What is hashed: the sum of the words, each times one of these, and of the mask's number. Products that do
 * not wait for each other are faster than better hashes.
 */
#define TNA_STEER_FACTORS                                                                                    \
	{0x9e3779b97f4a7c15ULL, 0xc2b2ae3d27d4eb4fULL, 0x165667b19e3779f9ULL,                                \
	 0xd6e8feb86659fd93ULL, 0xff51afd7ed558ccdULL, 0xbf58476d1ce4e5b9ULL}

struct tna_steer_mask {
	__u64 bits[TNA_STEER_WORDS];
	__u32 best; /* rank of the first of its rules */
	__u32 wide; /* it looks at the second halves of addresses */
	__u32 only; /* where its entry is, plus 1, if it has but one: nothing is to be searched; else 0 */
	__u32 unused;
};

struct tna_steer_table {
	__u32 masks; /* in the order of their best rules */
	__u32 unused;
	__u64 factor; /* of hashes, an odd number: another one where too many have the same hash */
	struct tna_steer_mask mask[TNA_STEER_MASKS];
};

/* The one in use, and the one that will be. */
struct tna_steer_tables {
	__u32 current;
	__u32 unused;
	struct tna_steer_table of[2];
};

struct tna_steer_entry {
	__u64 key[TNA_STEER_WORDS];
	__u32 rank; /* 0: nothing is here; the higher one wins */
	__u16 rule;
	__u8 mask;
	__u8 function;
	__u32 next; /* entry of the same hash, 0: no more */
	__u32 unused;
};

/* Per CPU and rule. */
struct tna_steer_counters {
	__u64 packets; /* that the function got */
	__u64 bytes;
	__u64 otherwise; /* that it did not get */
};

#define TNA_STEER_DROP 1u     /* what nobody takes is dropped; else it goes on */
#define TNA_STEER_BYPASS 2u   /* all goes on */
#define TNA_STEER_GIVES_ON 4u /* what it gives back goes on to the next function, before Linux */

struct tna_steer_function {
	__u32 flags;
	__u32 longest; /* frame that fits into its memory */
	__u32 last;    /* rank of the last one of its rules: what is behind it has a lower one */
	__u32 netns;   /* of its ports, by its inode number: a port that moves takes no function along */
};

struct tna_steer_queue_key {
	__u32 ifindex;
	__u32 queue;
};

/*
 * Where a queue's socket is: the queue's cell is one of a few behind each other, from the one of its hash on;
 * none is behind an empty one. A cell has the queue, and in its lowest 16 bits the socket's place.
 */
#define TNA_STEER_CELL_BITS 12
#define TNA_STEER_CELLS (1U << TNA_STEER_CELL_BITS)
#define TNA_STEER_CELL_STEPS 8
#define TNA_STEER_CELL_USED 0xffffffffULL /* nobody's any more: no port has the ifindex 0 */
#define TNA_STEER_CELL(ifindex, queue, place)                                                                \
	((__u64)(ifindex) << 32 | (__u64)((queue) & 0xffff) << 16 | (place))
#define TNA_STEER_CELL_HASH(cell)                                                                            \
	((__u32)(((cell) >> 16) * 0x9e3779b97f4a7c15ULL >> (64 - TNA_STEER_CELL_BITS)))

/* A socket, at its place. It is given no more than there are places for in its memory. */
struct tna_steer_queue {
	__u32 place; /* in the map of sockets */
	__u32 function;
	__u64 given;
	__u64 limit;    /* given so much, it is to be asked again */
	__u64 full;     /* frames that found no room */
	__u64 too_long; /* frames that do not fit into its memory, or lie in several buffers */
};

/*
 * A page that the function writes: how many places for frames it has given to the kernel since it is
 * connected. Whatever it writes there harms only itself.
 */
struct tna_steer_page {
	__u64 places;
	__u64 unused[7];
};

/* By which ports frames may go back to Linux: of a socket, by its mark. */
#define TNA_BACK_PORTS 1024
#define TNA_BACK_ETHERTYPE 0x88a8 /* of the tag that says so */
struct tna_back_port {
	__u32 mark;
	__u32 port; /* in the function's own order */
};
struct tna_back_to {
	__u32 ifindex;
	__u32 function; /* that gives it back */
};

/*
 * Which socket has what functions give on: of the function that is next, by the port that the frame came in
 * by. It is bound to the end of the pair that functions send into, where nothing else arrives, and the frame
 * has the tag with its port in the order of that function.
 */
struct tna_back_taker_key {
	__u32 function;
	__u32 ifindex;
};
struct tna_back_taker {
	struct tna_steer_queue_key queue;
	__u32 port;
	__u32 unused;
};
/* What is longer does not arrive in one buffer: a page, without the kernel's room at both ends. */
#define TNA_BACK_LONGEST 3400

#endif
