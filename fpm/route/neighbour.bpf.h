/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_NEIGHBOUR_H
#define TNA_ROUTE_NEIGHBOUR_H

/* The kernel's neighbours (ARP), found by walking its hash table; what is found is compared. */

#include "kernel/access.h"
#include "kernel/inet_types.h"
#include "packet/packet.bpf.h"

#define NEIGHBOUR_CHAIN_MAX 16

/*
 * With these states Linux sends at once and does nothing else. A stale one is left to it, so that it
 * starts to confirm the neighbour; while it does, frames are fast again. So neighbours in use stay
 * fresh, and others age, as if there was no fast path.
 */
#define NUD_FAST (NUD_PERMANENT | NUD_NOARP | NUD_REACHABLE | NUD_DELAY | NUD_PROBE)

/* The address of the neighbour with a key on a device, 0 if there is none (arp_hashfn()). */
INLINE u64 neighbour_find(u64 device, u32 key)
{
	u64 inet = KLOAD(u64, KADDR(struct net_device, device, ip_ptr));
	u64 parameters = KLOAD(u64, KADDR(struct in_device, inet, arp_parms));
	u64 table = KLOAD(u64, KADDR(struct neigh_parms, parameters, tbl));
	u64 hash = KLOAD(u64, KADDR(struct neigh_table, table, nht));
	u32 seed = KLOAD(u32, KADDR(struct neigh_hash_table, hash, hash_rnd));
	u32 shift = KLOAD(u32, KADDR(struct neigh_hash_table, hash, hash_shift));
	u32 bucket = (key ^ (u32)(device ^ device >> 32)) * seed >> ((32 - shift) & 31);
	u64 buckets = bpf_core_field_exists(struct neigh_hash_table, hash_heads)
			      ? KLOAD(u64, KADDR(struct neigh_hash_table, hash, hash_heads))
			      : KLOAD(u64, KADDR(struct neigh_hash_table, hash, hash_buckets));
	u64 node = KLOAD(u64, buckets + 8ULL * bucket);

	for (int i = 0; i < NEIGHBOUR_CHAIN_MAX && node; i++) {
		/* both kinds of links begin with the next neighbour's address, at the neighbour's start */
		if (KLOAD(u64, KADDR(struct neighbour, node, dev)) == device &&
		    KLOAD(u32, KADDR(struct neighbour, node, primary_key)) == key)
			return node;
		node = KLOAD(u64, node);
	}
	return 0;
}

/* Whether what was this neighbour no longer is one that Linux would use without further ado. */
INLINE u64 neighbour_gone(struct neighbour *neighbour, u64 device, u32 key)
{
	u64 word = KGET(u64, neighbour, dev) ^ device;

	COLLECT(word, KGET(u32, neighbour, primary_key) ^ key);
	COLLECT(word, KGET(u8, neighbour, dead));
	COLLECT(word, !(KGET(u8, neighbour, nud_state) & NUD_FAST));
	return word;
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
