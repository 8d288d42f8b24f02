// SPDX-License-Identifier: GPL-2.0
/*
 * A layer-4 load balancer of one hop (direct server return): packets to a virtual IPv4 address go to one of
 * several servers, which all have that address, by the MAC address of the server. Which server is a matter
 * of the flow alone (rendezvous hashing): when one goes, only its flows move.
 *
 * What it changes is where the frame is addressed to. So it is another frame, which the fast path evaluates
 * as such, and bridges to the server as Linux would.
 *
 *	tnactl module insert load-balancer.bpf.o --port uplink
 *
 * Then the maps `service` and `servers` are filled, for instance with bpftool.
 */
#include <tna/module.h>

#define SERVERS 16

struct service {
	__u32 address; /* as it lies in the header */
	__u32 servers; /* how many of those below */
};

struct server {
	__u8 mac[6];
	__u16 up;
	__u32 id; /* that the server keeps when others come and go */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct service);
} service SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SERVERS);
	__type(key, __u32);
	__type(value, struct server);
} servers SEC(".maps");

static __always_inline __u32 mix(__u32 hash)
{
	hash = (hash ^ hash >> 16) * 0x7feb352d;
	hash = (hash ^ hash >> 15) * 0x846ca68b;
	return hash ^ hash >> 16;
}

/* The server that this flow likes best. */
static __always_inline struct server *choose(__u32 flow, __u32 count)
{
	struct server *best = NULL;
	__u32 most = 0;

	for (__u32 i = 0; i < SERVERS; i++) {
		__u32 key = i;
		struct server *server = i < count ? bpf_map_lookup_elem(&servers, &key) : NULL;
		__u32 liking = server ? mix(flow ^ mix(server->id)) | 1 : 0;

		if (server && server->up && liking > most) {
			most = liking;
			best = server;
		}
	}
	return best;
}

TNA_INGRESS(packet)
{
	__u32 zero = 0, *addresses = packet->ip_version == 4 ? tna_at(packet, packet->l3 + 12, 8) : NULL;
	struct service *wanted = bpf_map_lookup_elem(&service, &zero);
	struct server *server;
	__u32 flow, *ports;
	__u8 *mac;

	/* fragments have no ports; they would not find the server of the others */
	if (!addresses || !wanted || !wanted->address || addresses[1] != wanted->address || !packet->l4)
		return TNA_CONTINUE;
	flow = addresses[0];
	ports = tna_at(packet, packet->l4, 4);
	if (ports && (packet->protocol == 6 || packet->protocol == 17))
		flow ^= mix(*ports);
	server = choose(flow, wanted->servers);
	mac = tna_at(packet, 0, 6);
	if (server && mac)
		__builtin_memcpy(mac, server->mac, 6);
	return TNA_CONTINUE;
}
