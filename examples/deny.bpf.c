// SPDX-License-Identifier: GPL-2.0
/*
 * Drops packets of IPv4 sources that a program in user space has denied: in the driver, before anybody has
 * spent time on them. The map `denied` can be mapped into that program's memory, so that it writes there
 * without system calls and without capabilities; guard.c is such a program, a network function:
 *
 *	tnactl module insert deny.bpf.o --port eth0
 *
 * A source has one place, by its hash: another source that is denied at the same place takes it.
 * For ports at tcx as well.
 */
#define TNA_MODULE_AT_TCX
#include <tna/module.h>

#include "deny.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, DENY_PLACES);
	__type(key, __u32);
	__type(value, struct denied);
} denied SEC(".maps");

TNA_INGRESS(packet)
{
	__u32 *source = packet->ip_version == 4 ? tna_at(packet, packet->l3 + 12, 4) : NULL;
	struct denied *entry;
	__u32 place;

	if (!source || !*source)
		return TNA_CONTINUE;
	place = deny_place(*source);
	entry = bpf_map_lookup_elem(&denied, &place);
	if (!entry || entry->source != *source)
		return TNA_CONTINUE;
	__sync_fetch_and_add(&entry->packets, 1);
	return TNA_DROP;
}
