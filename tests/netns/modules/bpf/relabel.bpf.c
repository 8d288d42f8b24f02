// SPDX-License-Identifier: GPL-2.0
/* A module that changes at tcx what Linux has looked at already, and says whose the frame then is. */
#define TNA_MODULE_AT_TCX
#include <tna/module.h>

#include <linux/ip.h>

enum { NOTHING, TYPE, STATION, FRONT };

struct order {
	__u32 what;
	__u32 verdict;
	__u8 station[8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct order);
} orders SEC(".maps");

/* how many frames those were that came */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} frames SEC(".maps");

/* It becomes one of IPv4. */
static __always_inline void set_type(struct tna_packet *packet)
{
	__u8 *type = tna_at(packet, 12, 2);

	if (type) {
		type[0] = 0x08;
		type[1] = 0x00;
	}
}

static __always_inline void set_station(struct tna_packet *packet, const struct order *order)
{
	__u8 *to = tna_at(packet, 0, ETH_ALEN);

	if (to)
		__builtin_memcpy(to, order->station, ETH_ALEN);
}

struct front {
	__u16 unused;
	__u8 ethernet[ETH_HLEN];
	struct iphdr ip;
};

/* A packet of IPv4 becomes one in another one, between the same hosts. */
static __always_inline void put_in_front(struct tna_packet *packet)
{
	struct front front = {};
	__u8 *bytes = tna_at(packet, 0, ETH_HLEN + sizeof(front.ip));
	__s64 sum;

	if (!bytes || packet->ip_version != 4)
		return;
	__builtin_memcpy(front.ethernet, bytes, ETH_HLEN);
	__builtin_memcpy(&front.ip, bytes + ETH_HLEN, sizeof(front.ip));
	front.ip.tot_len = bpf_htons(bpf_ntohs(front.ip.tot_len) + sizeof(front.ip));
	front.ip.protocol = 4;
	front.ip.check = 0;
	sum = bpf_csum_diff(NULL, 0, (void *)&front.ip, sizeof(front.ip), 0);
	sum = (sum & 0xffff) + (sum >> 16);
	front.ip.check = ~((sum & 0xffff) + (sum >> 16));
	if (bpf_skb_change_head(packet->skb, sizeof(front.ip), 0))
		return;
	bytes = tna_at(packet, 0, ETH_HLEN + sizeof(front.ip));
	if (bytes)
		__builtin_memcpy(bytes, front.ethernet, ETH_HLEN + sizeof(front.ip));
}

TNA_INGRESS(packet)
{
	const __u32 zero = 0;
	struct order *order = bpf_map_lookup_elem(&orders, &zero);
	__u64 *count = bpf_map_lookup_elem(&frames, &zero);

	if (!order || !count)
		return TNA_CONTINUE;
	*count += tna_frames(packet);
	if (order->what == TYPE)
		set_type(packet);
	if (order->what == STATION)
		set_station(packet, order);
	if (order->what == FRONT && tna_at_tcx(packet))
		put_in_front(packet);
	return order->verdict == TNA_TO_LINUX ? TNA_TO_LINUX : TNA_CONTINUE;
}
