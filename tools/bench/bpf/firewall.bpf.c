// SPDX-License-Identifier: GPL-2.0
/* The firewall of a chain as a custom module, before a network function that has the rest of the chain. */
#include <linux/ip.h>
#include <linux/udp.h>

#include <tna/module.h>

#define COUNTS 1 /* dropped */
#include "counts.bpf.h"
#include "work_shared.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WORK_CHAIN_RULES);
	__type(key, struct work_flow);
	__type(value, struct work_backend);
} blocked SEC(".maps");

TNA_INGRESS(packet)
{
	const bool udp = packet->ip_version == 4 && packet->protocol == 17 && packet->l4;
	struct iphdr *ip = udp ? tna_at(packet, packet->l3, sizeof(*ip)) : NULL;
	struct udphdr *ports = udp ? tna_at(packet, packet->l4, sizeof(*ports)) : NULL;
	struct work_flow flow = {};

	if (!ip || !ports)
		return TNA_CONTINUE;
	flow.from = ip->saddr;
	flow.to = ip->daddr;
	flow.from_port = ports->source;
	flow.to_port = ports->dest;
	flow.protocol = 17;
	if (!bpf_map_lookup_elem(&blocked, &flow))
		return TNA_CONTINUE;
	count(0, 1);
	return TNA_DROP;
}
