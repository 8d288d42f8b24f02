/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_COMMON_NEIGHBOUR_H
#define TNA_ROUTE_COMMON_NEIGHBOUR_H

/* The kernel's neighbours (ARP, ND), found by walking its hash tables; what is found is compared. */

#include <tna/fastpath.h>

#include "kernel/inet_types.h"
#include "kernel/loop.bpf.h"
#include "packet/packet.bpf.h"

/* The table doubles as soon as there are more neighbours than buckets (___neigh_create()), so long chains are
 * rare. */
#define NEIGHBOUR_CHAIN_MAX 16

/*
 * With these states Linux sends at once and does nothing else. A stale one is left to it, so that it
 * starts to confirm the neighbour; while it does, frames are fast again. So neighbours in use stay
 * fresh, and others age, as if there was no fast path.
 */
#define NUD_FAST (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_DELAY | NUD_PROBE)

/* The hash table that a device's settings for a protocol lead to. */
INLINE u64 neighbour_hash(u64 parameters)
{
	u64 table = KLOAD(u64, KADDR(struct neigh_parms, parameters, tbl));

	return KLOAD(u64, KADDR(struct neigh_table, table, nht));
}

/* A hash's seed for one of the key's words; to the first word the device's address is added. */
INLINE u32 neighbour_seed(u64 hash, int word)
{
	return KLOAD(u32, KADDR(struct neigh_hash_table, hash, hash_rnd) + 4 * word);
}

INLINE u32 neighbour_mix(u32 key, u64 device)
{
	return key ^ (u32)(device ^ device >> 32);
}

INLINE u64 neighbour_first(u64 hash, u32 sum)
{
	u32 shift = KLOAD(u32, KADDR(struct neigh_hash_table, hash, hash_shift));
	u32 bucket = sum >> ((32 - shift) & 31); /* of 2^3 to 2^31 buckets (neigh_hash_alloc()) */
	u64 buckets = bpf_core_field_exists(struct neigh_hash_table, hash_heads)
			      ? KLOAD(u64, KADDR(struct neigh_hash_table, hash, hash_heads))
			      : KLOAD(u64, KADDR(struct neigh_hash_table, hash, hash_buckets));

	return KLOAD(u64, buckets + 8ULL * bucket);
}

/*
 * The neighbour with a key on a device (arp_hashfn()). While the table is being resized the links of one
 * chain may lead into another's: who misses a neighbour then leaves the frame to Linux.
 */
INLINE struct search neighbour_find(u64 device, u32 key)
{
	u64 inet = KLOAD(u64, KADDR(struct net_device, device, ip_ptr));
	u64 hash = neighbour_hash(KLOAD(u64, KADDR(struct in_device, inet, arp_parms)));
	u64 node = neighbour_first(hash, neighbour_mix(key, device) * neighbour_seed(hash, 0));
	struct search search;

	SEARCH_SHORT (search, NEIGHBOUR_CHAIN_MAX) {
		if (!node)
			CONCLUDE(search, search_none());
		/* both kinds of links begin with the next neighbour's address, at the neighbour's start */
		if (KLOAD(u64, KADDR(struct neighbour, node, dev)) == device &&
		    KLOAD(u32, KADDR(struct neighbour, node, primary_key)) == key)
			CONCLUDE(search, search_found(node));
		node = KLOAD(u64, node);
	}
	return search;
}

/* What differs from a key of IPv6, two words as they lie in a header. */
INLINE u64 neighbour6_differs(u64 node, u64 first, u64 second)
{
	u64 key = KADDR(struct neighbour, node, primary_key);

	return (KLOAD(u64, key) ^ first) | (KLOAD(u64, key + 8) ^ second);
}

/* The same for IPv6 (ndisc_hashfn()), where the device's settings lie elsewhere. */
INLINE struct search neighbour6_find(u64 inet6, u64 device, u64 first, u64 second)
{
	u64 hash = neighbour_hash(KLOAD(u64, KADDR(struct inet6_dev, inet6, nd_parms)));
	u32 sum = neighbour_mix(first, device) * neighbour_seed(hash, 0) +
		  (u32)(first >> 32) * neighbour_seed(hash, 1) + (u32)second * neighbour_seed(hash, 2) +
		  (u32)(second >> 32) * neighbour_seed(hash, 3);
	u64 node = neighbour_first(hash, sum);
	struct search search;

	SEARCH_SHORT (search, NEIGHBOUR_CHAIN_MAX) {
		if (!node)
			CONCLUDE(search, search_none());
		if (KLOAD(u64, KADDR(struct neighbour, node, dev)) == device &&
		    !neighbour6_differs(node, first, second))
			CONCLUDE(search, search_found(node));
		node = KLOAD(u64, node);
	}
	return search;
}

/* Whether this is not, or no longer, a device's neighbour that Linux would use without further ado. */
INLINE u64 neighbour_unfit(struct neighbour *neighbour, u64 device)
{
	u64 word = KGET(u64, neighbour, dev) ^ device;

	COLLECT(word, KGET(u8, neighbour, dead));
	COLLECT(word, !(KGET(u8, neighbour, nud_state) & NUD_FAST));
	return word;
}

/* The same, and whether it is the one with this key. */
INLINE u64 neighbour_gone(struct neighbour *neighbour, u64 device, u32 key)
{
	u64 word = neighbour_unfit(neighbour, device);

	COLLECT(word, KGET(u32, neighbour, primary_key) ^ key);
	return word;
}

/* Nobody but Linux sends to several stations, or to what some take for that: whoever listens to such frames
 * hears all of them (guards/packet_filter.bpf.h); and a bridge sends to all its ports what it may know one
 * for. */
INLINE u64 neighbour_is_group(u64 address)
{
	return address & 1 || (address & MAC_MASK) == TNA_EDP_STATION;
}

/* The MAC address, read as a whole: 0 while it is being changed. */
INLINE u64 neighbour_address(u64 neighbour)
{
	u32 before = KLOAD(u32, KADDR(struct neighbour, neighbour, ha_lock));
	u64 address = KLOAD(u64, KADDR(struct neighbour, neighbour, ha));

	asm volatile("" : "+r"(address) : : "memory");
	u32 after = KLOAD(u32, KADDR(struct neighbour, neighbour, ha_lock));

	return before & 1 || before != after ? 0 : address;
}

#endif
