// SPDX-License-Identifier: GPL-2.0
/*
 * Counts packets and bytes of each IPv4 flow, as they come in.
 *
 *	tnactl module insert monitor.bpf.o
 *	tnactl module show monitor --map flows
 *
 * For ports at tcx as well: there, what is several packets yet (GSO, GRO) counts as what it will be on a
 *wire.
 */
#define TNA_MODULE_AT_TCX
#include <tna/module.h>

/* One by one, so that they are shown so: of an array of bytes, what is shown ends at a zero. */
struct address {
	__u8 a, b, c, d;
};

struct flow {
	struct address source;
	struct address destination;
	__u16 source_port; /* host order; 0: the protocol has none */
	__u16 destination_port;
	__u32 protocol;
};

struct traffic {
	__u64 packets;
	__u64 bytes;
};

/* The least recently seen flow makes room for a new one. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_PERCPU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct flow);
	__type(value, struct traffic);
} flows SEC(".maps");

static __always_inline void count(const struct flow *flow, __u32 packets, __u32 bytes)
{
	struct traffic *traffic = bpf_map_lookup_elem(&flows, flow), first = {packets, bytes};

	if (traffic) {
		traffic->packets += packets;
		traffic->bytes += bytes;
	} else {
		bpf_map_update_elem(&flows, flow, &first, BPF_ANY);
	}
}

TNA_INGRESS(packet)
{
	__u8 *addresses = packet->ip_version == 4 ? tna_at(packet, packet->l3 + 12, 8) : NULL;
	struct flow flow = {.protocol = packet->protocol};

	if (!addresses)
		return TNA_CONTINUE;
	__builtin_memcpy(&flow.source, addresses, 4);
	__builtin_memcpy(&flow.destination, addresses + 4, 4);
	if (packet->l4 && (packet->protocol == 6 || packet->protocol == 17)) {
		__u16 *ports = tna_at(packet, packet->l4, 4);

		if (ports) {
			flow.source_port = bpf_ntohs(ports[0]);
			flow.destination_port = bpf_ntohs(ports[1]);
		}
	}
	count(&flow, tna_frames(packet), packet->length);
	return TNA_CONTINUE;
}
