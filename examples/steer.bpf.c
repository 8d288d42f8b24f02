// SPDX-License-Identifier: GPL-2.0
/*
 * Hands packets of one UDP or TCP destination port to a network function in user space (AF_XDP), and leaves
 * all others alone. The function opens the map `sockets` by its id (`tnactl module show steer`), and enters
 * its socket at the number of the queue that it is bound to. Without a socket the packets go on as ever.
 */
#include <tna/module.h>

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u32);
} sockets SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32); /* a port, in host order */
} wanted SEC(".maps");

TNA_INGRESS(packet)
{
	__u32 zero = 0, *port = bpf_map_lookup_elem(&wanted, &zero);
	__u16 *ports = packet->l4 && (packet->protocol == 6 || packet->protocol == 17)
			       ? tna_at(packet, packet->l4, 4)
			       : NULL;

	if (!port || !ports || bpf_ntohs(ports[1]) != *port)
		return TNA_CONTINUE;
	return tna_to_socket(packet, &sockets, packet->ctx->rx_queue_index, TNA_CONTINUE);
}
