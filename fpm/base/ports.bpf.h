/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_PORTS_H
#define TNA_BASE_PORTS_H

/* The ports of a namespace and what is counted for them; every pipeline has this. */

#include <tna/fastpath.h>

#include "base/constant.bpf.h"
#include "base/decision.bpf.h"
#include "base/reason.bpf.h"
#include "base/slots.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_port_counters);
} port_counters SEC(".maps");

struct {
	__uint(type, HOOK_PORTS);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct bpf_devmap_val); /* with the custom modules at its egress */
} egress_ports SEC(".maps");

/* The slot of a managed port, negative if it is not managed. */
INLINE s32 port_slot(u32 ifindex)
{
	struct tna_port_slot *slot = bpf_map_lookup_elem(&port_slots, &ifindex);

	return slot ? (s32)slot->slot : -1;
}

/* The slot of a port that a frame of this length may leave by; else the complement of the reason. */
INLINE s32 port_slot_out(u32 ifindex, u32 len)
{
	struct tna_port_slot *slot = bpf_map_lookup_elem(&port_slots, &ifindex);

	if (!slot || slot->shortest == TNA_NO_EGRESS)
		return ~TNA_REASON_EGRESS_UNMANAGED;
	if (slot->shortest == TNA_EGRESS_REFUSED)
		return ~TNA_REASON_EGRESS_REFUSED;
	return len < slot->shortest ? ~TNA_REASON_EGRESS_SHORT : (s32)slot->slot;
}

/* Shorter than what may leave by any port: the one that it is for is to be asked. */
INLINE u64 shorter_than_all(u32 len)
{
	return ((u64)len - home.shortest) >> 63;
}

/* A frame that is not forwarded, by port and reason. */
INLINE void count_slow(hook_context *ctx, u32 reason)
{
	s32 slot = port_slot(hook_ingress_ifindex(ctx));
	u32 key = slot;
	struct tna_port_counters *counters = slot < 0 ? NULL : bpf_map_lookup_elem(&port_counters, &key);

	if (counters && reason < TNA_REASON_COUNT)
		counters->slow[reason]++;
}

/* Where a frame that is left to Linux meets another program of ours, that counts it. */
NOINLINE int leave_to_linux(hook_context *ctx, u32 reason)
{
	if (CONSTANT(COUNTS_LEFT))
		count_slow(ctx, reason);
	WHEN(MODULES) decision_reason(reason);
	return HOOK_TO_LINUX;
}

/* What Linux would drop. */
NOINLINE int drop_as_linux(hook_context *ctx, u32 reason)
{
	count_slow(ctx, reason);
	WHEN(MODULES) decision_reason(reason);
	return HOOK_DROP;
}

/* Adds frames that went from one port to another to what the ports have counted. */
INLINE void count_forwarded(u32 in, u32 out, u64 packets, u64 bytes)
{
	struct tna_port_counters *counters = bpf_map_lookup_elem(&port_counters, &in);

	if (counters) {
		counters->in_packets += packets;
		counters->in_bytes += bytes;
	}
	counters = bpf_map_lookup_elem(&port_counters, &out);
	if (counters) {
		counters->out_packets += packets;
		counters->out_bytes += bytes;
	}
}

#endif
