// SPDX-License-Identifier: GPL-2.0
/*
 * Steers frames to network functions in user space (AF_XDP), as the operator has declared. It is a custom
 * module of tna's own: tnad puts it behind all others at ingress, on the ports of functions. What is not
 * steered goes on as it is.
 */
#include <tna/module.h>
#include <tna/steer.h>

#include "kernel/types.h"
#include "steer/table.bpf.h"

extern void *bpf_cast_to_kern_ctx(void *ctx) __ksym;

static __always_inline __u64 ports_of(struct tna_packet *packet)
{
	const __u16 *ports;
	const __u8 *flags;
	__u64 what;

	if (!packet->l4 || (packet->protocol != 6 && packet->protocol != 17))
		return 0;
	ports = tna_at(packet, packet->l4, 4);
	if (!ports)
		return 0;
	what = TNA_STEER_PORTS_KNOWN | (__u64)bpf_ntohs(ports[0]) << TNA_STEER_FROM_PORT_SHIFT |
	       (__u64)bpf_ntohs(ports[1]) << TNA_STEER_TO_PORT_SHIFT;
	if (packet->protocol != 6)
		return what;
	flags = tna_at(packet, packet->l4, 14);
	if (!flags)
		return 0;
	return what | (__u64)flags[13] << TNA_STEER_TCP_FLAGS_SHIFT;
}

/*
 * What most frames are, by one look at their length: without a tag, IPv4 without options and not a later
 * fragment, long enough for TCP's header.
 */
static __always_inline bool look_at_usual(struct tna_packet *packet, struct wanted *wanted)
{
	const __u8 *data = tna_at(packet, 0, ETH_HLEN + 20 + 20);
	const __u8 *l3, *l4;
	__u64 what = 4ULL << TNA_STEER_VERSION_SHIFT;

	if (!data || *(const __u16 *)(data + 12) != bpf_htons(ETH_P_IP))
		return false;
	l3 = data + ETH_HLEN;
	l4 = l3 + 20;
	if (l3[0] != 0x45 || *(const __u16 *)(l3 + 6) & bpf_htons(0x1fff))
		return false;
	what |= (__u64)l3[9] << TNA_STEER_PROTOCOL_SHIFT;
	if (l3[9] == 17 || l3[9] == 6) /* both ports, one behind the other */
		what |= TNA_STEER_PORTS_KNOWN | bpf_ntohl(*(const __u32 *)l4);
	if (l3[9] == 6)
		what |= (__u64)l4[13] << TNA_STEER_TCP_FLAGS_SHIFT;
	wanted->key[TNA_STEER_WHERE] = packet->ctx->ingress_ifindex | (__u64)ETH_P_IP << TNA_STEER_TYPE_SHIFT;
	wanted->key[TNA_STEER_WHAT] = what;
	wanted->key[TNA_STEER_FROM] = *(const __u32 *)(l3 + 12);
	wanted->key[TNA_STEER_FROM + 1] = 0;
	wanted->key[TNA_STEER_TO] = *(const __u32 *)(l3 + 16);
	wanted->key[TNA_STEER_TO + 1] = 0;
	return true;
}

static __always_inline void look_at_any(struct tna_packet *packet, struct wanted *wanted)
{
	const __u8 *header;
	__u64 vlan;

	tna_parse(packet);
	vlan = packet->vlan_protocol ? TNA_STEER_TAGGED | (packet->vlan_tci & 0xfff) : 0;
	wanted->key[TNA_STEER_WHERE] = packet->ingress | vlan << TNA_STEER_VLAN_SHIFT |
				       (__u64)packet->ether_type << TNA_STEER_TYPE_SHIFT;
	wanted->key[TNA_STEER_WHAT] = 0;
	wanted->key[TNA_STEER_FROM] = 0;
	wanted->key[TNA_STEER_FROM + 1] = 0;
	wanted->key[TNA_STEER_TO] = 0;
	wanted->key[TNA_STEER_TO + 1] = 0;
	if (packet->ip_version == 4) {
		header = tna_at(packet, packet->l3, 20);
		if (!header)
			return;
		wanted->key[TNA_STEER_FROM] = *(const __u32 *)(header + 12);
		wanted->key[TNA_STEER_TO] = *(const __u32 *)(header + 16);
	} else if (packet->ip_version == 6) {
		header = tna_at(packet, packet->l3, 40);
		if (!header)
			return;
		wanted->key[TNA_STEER_FROM] = *(const __u64 *)(header + 8);
		wanted->key[TNA_STEER_FROM + 1] = *(const __u64 *)(header + 16);
		wanted->key[TNA_STEER_TO] = *(const __u64 *)(header + 24);
		wanted->key[TNA_STEER_TO + 1] = *(const __u64 *)(header + 32);
	} else {
		return;
	}
	wanted->key[TNA_STEER_WHAT] = ports_of(packet) | (__u64)packet->protocol << TNA_STEER_PROTOCOL_SHIFT |
				      (__u64)packet->ip_version << TNA_STEER_VERSION_SHIFT;
}

static __always_inline enum tna_verdict give(struct tna_packet *packet, __u32 number,
					     const struct tna_steer_function *function,
					     enum tna_verdict otherwise)
{
	struct tna_steer_queue_key key = {packet->ctx->ingress_ifindex, packet->ctx->rx_queue_index};
	struct tna_steer_queue *queue = queue_at(&key);
	const struct xdp_buff *buffer = bpf_cast_to_kern_ctx(packet->ctx);
	const __u32 length = tna_length(packet);
	enum tna_verdict verdict;

	/* first: elsewhere nobody has declared what else becomes of it */
	if (buffer->rxq->dev->nd_net.net->ns.inum != function->netns)
		return TNA_CONTINUE;
	if (!queue || queue->function != number)
		return otherwise;
	if (bpf_xdp_get_buff_len(packet->ctx) != length || length > function->longest) {
		queue->too_long++;
		return otherwise;
	}
	if (!has_room(queue, queue->given))
		return otherwise;
	verdict = tna_to_socket(packet, &steer_sockets, queue->place, otherwise);
	if (verdict == TNA_TO_SOCKET)
		queue->given++;
	return verdict;
}

static __always_inline enum tna_verdict steer(struct tna_packet *packet)
{
	const struct tna_steer_tables *tables = bpf_map_lookup_elem(&steer_tables, &zero);
	const struct tna_steer_entry *entry;
	const struct tna_steer_function *function;
	struct tna_steer_counters *counters;
	enum tna_verdict verdict = TNA_CONTINUE;
	struct wanted wanted;
	__u32 number, rule;

	if (!tables)
		return TNA_CONTINUE;
	if (!look_at_usual(packet, &wanted))
		look_at_any(packet, &wanted);
	entry = best_for(&wanted, tables, STEER_ALL_RULES);
	if (!entry)
		return TNA_CONTINUE;
	number = entry->function;
	rule = entry->rule;
	function = bpf_map_lookup_elem(&steer_functions, &number);
	counters = bpf_map_lookup_elem(&steer_counters, &rule);
	if (!function || !counters)
		return TNA_CONTINUE;
	if (!(function->flags & TNA_STEER_BYPASS))
		verdict = give(packet, number, function,
			       function->flags & TNA_STEER_DROP ? TNA_DROP : TNA_CONTINUE);
	if (verdict == TNA_TO_SOCKET) {
		counters->packets++;
		counters->bytes += tna_length(packet);
	} else {
		counters->otherwise++;
	}
	return verdict;
}

/* As TNA_INGRESS() makes it, but a frame is only parsed if it is not a usual one. */
SEC("xdp")
int tna_on_ingress(struct xdp_md *ctx)
{
	struct tna_packet packet = {.ctx = ctx, .at = TNA_HOOK_INGRESS};

	return tna_obey(&packet, TNA_HOOK_INGRESS, steer(&packet));
}
