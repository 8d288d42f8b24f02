/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V4_DESTINATION_H
#define TNA_ROUTE_V4_DESTINATION_H

/*
 * What addresses are routed by, in namespaces with many routes. There the trie lies in no processor cache,
 * and each step of a search waits for memory, six to ten times. So what a search has found is remembered, a
 * quarter of a cache line for each address, for as long as the generation of the routes does not move.
 *
 * It moves whenever a route is added; and when one goes or is replaced that has been used, as its mark
 * (fa_state) says, which bpf_fib_lookup() leaves. So nothing is remembered but routes that were seen in the
 * trie with the mark already on them: the first packet leaves it, a later one remembers. The generation moves
 * a moment after a route is unlinked and that is announced, so each packet looks at the link as well.
 */

#include "route/v4/own_address.bpf.h"

/* The struct fib_info * of a route that is the same for all packets, 0 of others. */
INLINE u64 route_plain(u64 address)
{
	struct fib_alias *alias = KOBJ(struct fib_alias, address);
	u64 special = !address;

	COLLECT(special, KGET(u8, alias, fa_dscp));
	COLLECT(special, KGET(u8, alias, fa_type) ^ ROUTE_UNICAST);
	return special ? 0 : KGET(u64, alias, fa_info);
}

/* The same of one that was found before, and may have gone since. */
INLINE u64 route_still_plain(u64 address)
{
	return fib_unlinked(KOBJ(struct fib_alias, address)) ? 0 : route_plain(address);
}

/* The line of this CPU in which an address has its place. */
INLINE u32 destination_line(u32 address)
{
	u64 spread = (u32)(address * 0x9e3779b1u);
	u32 lines = CONSTANT(DESTINATION_LINES);

	return (spread * lines >> 32) + bpf_get_smp_processor_id() * lines;
}

/* For a line below DESTINATION_LINES_TOTAL. */
INLINE struct tna_destination *destinations_at(u32 line)
{
	struct tna_destination *all = destinations;

	asm volatile("" : "+r"(all)); /* its size is known at load time only */
	return all + line * TNA_DESTINATION_WAYS;
}

/* The one to give up: one of another generation, or any. */
INLINE u32 destination_spare(const struct tna_destination *line, u64 key)
{
	EACH (way, TNA_DESTINATION_WAYS)
		if ((line[way].key ^ key) >> 32)
			return way;
	return bpf_get_prandom_u32() % TNA_DESTINATION_WAYS;
}

/* Leaves the mark on the route of an address. */
NOINLINE int destination_mark(hook_context *ctx, u32 address, u64 arrival)
{
	struct bpf_fib_lookup lookup;

	return route_lookup(ctx, &lookup, KLOAD(u32, KADDR(struct net_device, arrival, ifindex)), 0,
			    (u64)address << 32, FIB_SKIP_NEIGHBOUR, 0);
}

/* As destination_info(), if it is remembered, and else by a search. */
NOINLINE u64 destination_recall(hook_context *ctx, u32 address, u64 arrival)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u64 key = (u64)KGET(u32, net, ipv4.rt_genid.counter) << 32 | address; /* before the search */
	u32 index = destination_line(address);

	if (index >= CONSTANT(DESTINATION_LINES_TOTAL))
		return 0;
	struct tna_destination *line = destinations_at(index);

	EACH (way, TNA_DESTINATION_WAYS)
		if (line[way].key == key)
			return route_still_plain(line[way].alias);
	u64 found = found_or_linux(fib_find(KGET(u64, net, ipv4.fib_main), bpf_ntohl(address)));
	u64 info = route_plain(found);

	if (!info)
		return 0;
	if (KLOAD(u8, KADDR(struct fib_alias, found, fa_state)) & ROUTE_ACCESSED) {
		u32 way = destination_spare(line, key);

		line[way].alias = found;
		line[way].key = key;
	} else {
		destination_mark(ctx, address, arrival);
	}
	return info;
}

/*
 * The struct fib_info * by which an address is routed, in network order, for a packet that arrives as the one
 * of a device; 0 for one that is not the same for all packets.
 */
INLINE u64 destination_info(hook_context *ctx, u32 address, u64 arrival)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));

	if (CONSTANT(DESTINATION_LINES))
		return destination_recall(ctx, address, arrival);
	return route_plain(found_or_linux(fib_find(KGET(u64, net, ipv4.fib_main), bpf_ntohl(address))));
}

#endif
