/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_STATE_H
#define TNA_BASE_STATE_H

/* What all profiles of a namespace share. */

#include "base/ports.bpf.h"

#define FLOWS_PER_CPU ((u32)CONSTANT(FLOWS_PER_CPU))
#define FLOWS_TOTAL ((u32)CONSTANT(FLOWS_TOTAL))
#define NOWHERE (~0u) /* no place in the cache */

/*
 * CPU after CPU, FLOWS_PER_CPU entries each. A section of its own becomes a map of its own, in whose
 * place the controller puts one of the size that this machine needs: entries of a map's value are
 * addressed directly, elements of an array map by a lookup.
 */
struct tna_flow flows[1] SEC(".data.flows") = {};
struct tna_flow_vlans flow_vlans[1] SEC(".data.flow_vlans") = {}; /* the same, for profiles with VLANs */
struct tna_route routes[1] SEC(".data.routes") = {};              /* as many, for packets that are routed */
struct tna_route6 routes6[1] SEC(".data.routes6") = {};           /* half as many, for those of IPv6 */
/* the same of both, by devices on top of ports */
struct tna_route_stack route_stacks[2] SEC(".data.route_stacks") = {};
/* what addresses are routed by, where routes are many: CPU after CPU, in lines */
struct tna_destination destinations[TNA_DESTINATION_WAYS] SEC(".data.destinations") = {};

/*
 * Its upper bits depend on all of the key, and differ between all keys that differ in the last byte of one
 * address only.
 */
INLINE u32 flow_hash(u64 destination, u64 source)
{
	return ((destination ^ source << 16) * 0x9e3779b97f4a7c15ULL) >> 32;
}

/* The place in the cache for a pair of stations, on this CPU; whether it is theirs is to be proved. */
INLINE u32 flow_place(u32 hash, u64 vid)
{
	u64 spread = (u32)(hash + vid * 0x9e3779b1u);

	return (spread * FLOWS_PER_CPU >> 32) + bpf_get_smp_processor_id() * FLOWS_PER_CPU;
}

INLINE u32 flow_index(u64 destination, u64 source, u64 vid)
{
	return flow_place(flow_hash(destination, source), vid);
}

/*
 * Which pair of stations a place is taken by, so that a frame of another need not fail first; and when its
 * slots were looked up. Two pairs may be alike in this: whoever proves the pair has proved the epoch.
 */
INLINE u32 flow_mark(u32 hash, u32 epoch)
{
	return hash ^ epoch;
}

/* For an index below FLOWS_TOTAL. */
INLINE struct tna_flow *flow_at(u32 index)
{
	struct tna_flow *all = flows;

	asm volatile("" : "+r"(all)); /* its size is known at load time only */
	return all + index;
}

INLINE struct tna_flow_vlans *flow_vlans_at(u32 index)
{
	struct tna_flow_vlans *all = flow_vlans;

	asm volatile("" : "+r"(all));
	return all + index;
}

INLINE struct tna_route *route_at(u32 index)
{
	struct tna_route *all = routes;

	asm volatile("" : "+r"(all));
	return all + index;
}

INLINE struct tna_route_stack *route_stack_at(u32 index)
{
	struct tna_route_stack *all = route_stacks;

	asm volatile("" : "+r"(all));
	return all + index;
}

/* Of IPv6, half as many, they lie behind those of IPv4. */
INLINE struct tna_route_stack *route6_stack_at(u32 index)
{
	return route_stack_at(FLOWS_TOTAL + (index >> 1));
}

/* Moves what a flow has counted to its ports. */
INLINE void flow_evict(struct tna_flow *flow)
{
	if (!flow->packets)
		return;
	count_forwarded(flow->in_slot, flow->out_slot, flow->packets, flow->bytes);
	flow->packets = 0;
	flow->bytes = 0;
}

#endif
