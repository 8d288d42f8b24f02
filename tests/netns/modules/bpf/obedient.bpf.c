// SPDX-License-Identifier: GPL-2.0
/* A module that does what the UDP destination port of a packet tells it to, at each hook. */
#include <tna/module.h>

/* how much of the stack it takes */
#ifndef DEPTH
#define DEPTH 8
#endif

/* 0: the port to which TO_PORT goes */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} other_port SEC(".maps");

/* What was seen after a decision: how often which egress ifindex was told. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 64);
	__type(key, __u32);
	__type(value, __u64);
} told SEC(".maps");

enum order {
	DROP = 1,
	TO_LINUX,
	TO_PORT,
	CHANGE_LAST_BYTE,
	NO_VERDICT,
	NO_TARGET,
	CHANGE_HEADER,
	GROW,
	SHRINK,
	TAG,
	CHANGE_PORT,
};

static __always_inline __u32 order_of(struct tna_packet *packet)
{
	__u16 *udp = packet->l4 && packet->protocol == 17 ? tna_at(packet, packet->l4, 8) : NULL;

	return udp ? bpf_ntohs(udp[1]) : 0;
}

static __always_inline enum tna_verdict change(struct tna_packet *packet, __u32 offset)
{
	__u8 *byte = tna_at(packet, offset, 1);

	if (byte)
		*byte ^= 0xff;
	return TNA_CONTINUE;
}

static __always_inline enum tna_verdict resize(struct tna_packet *packet, int bytes)
{
	if (tna_at_tcx(packet))
		bpf_skb_change_tail(packet->skb, packet->skb->len + bytes, 0);
	else
		bpf_xdp_adjust_tail(packet->ctx, bytes);
	return TNA_CONTINUE;
}

/* Orders to a hook are this many behind one another. */
static __always_inline enum tna_verdict obey(struct tna_packet *packet, __u32 base)
{
	__u32 zero = 0, *port = bpf_map_lookup_elem(&other_port, &zero);

	switch (order_of(packet) - base) {
	case DROP:
		return TNA_DROP;
	case TO_LINUX:
		return TNA_TO_LINUX;
	case TO_PORT:
		return tna_to_port(packet, port ? *port : 0);
	case CHANGE_LAST_BYTE:
		return change(packet, packet->length - 1);
	case NO_VERDICT:
		return 77;
	case NO_TARGET:
		return TNA_TO_PORT;
	case CHANGE_HEADER:
		return change(packet, 5);
	case GROW:
		return resize(packet, 1);
	case SHRINK:
		return resize(packet, -1);
	case TAG:
		if (tna_at_tcx(packet))
			bpf_skb_vlan_push(packet->skb, bpf_htons(ETH_P_8021Q), 7);
		return TNA_CONTINUE;
	case CHANGE_PORT: /* that it comes from */
		return change(packet, packet->l4);
	default:
		return TNA_CONTINUE;
	}
}

TNA_INGRESS(packet)
{
	return obey(packet, 7000);
}

/* A function that is called. */
static __attribute__((noinline)) int note(__u32 egress)
{
	__u64 one = 1, *seen = bpf_map_lookup_elem(&told, &egress);

	if (seen)
		__sync_fetch_and_add(seen, 1);
	else
		bpf_map_update_elem(&told, &egress, &one, BPF_ANY);
	return 0;
}

static __always_inline void take_stack(void)
{
	__u8 room[DEPTH] = {1};

	asm volatile("" : : "r"(room) : "memory");
}

TNA_BRIDGE(packet)
{
	note(tna_egress(packet));
	take_stack();
	return obey(packet, 7100);
}

TNA_ROUTE(packet)
{
	note(tna_egress(packet));
	take_stack();
	return obey(packet, 7200);
}

TNA_EGRESS(packet)
{
	return obey(packet, 7300);
}
