/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_STEER_NEXT_H
#define TNA_STEER_NEXT_H

/*
 * Functions in sequence: what one gives back is looked up again among the rules behind all of its own, and
 * goes to the function that they name. An AF_XDP socket has frames of its own device and queue only
 * (xsk_rcv_check()), so it has one at the end of the pair that functions send into, and the frame is sent
 * back there, by the queue of that socket.
 */

#include <linux/if_ether.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_endian.h>

#include "steer/table.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TNA_BACK_PORTS);
	__type(key, struct tna_back_taker_key);
	__type(value, struct tna_back_taker);
} back_takers SEC(".maps");

enum on {
	ON_LINUX, /* nobody is next, or it cannot have it */
	ON_TAKEN,
	ON_DROP,
};

/* A frame, behind up to two tags; as tna_parse() of tna/module.h finds it. */
struct head {
	__u16 outer; /* EtherType of the outermost tag, 0: there is none */
	__u16 tci;
	__u16 type;
	__u32 l3;
};

static __always_inline bool is_tag(__u16 type)
{
	return type == bpf_htons(ETH_P_8021Q) || type == bpf_htons(ETH_P_8021AD);
}

static __always_inline bool head_of(struct __sk_buff *skb, struct head *head)
{
	__u16 tag[2];

	*head = (struct head){.l3 = ETH_HLEN};
	if (bpf_skb_load_bytes(skb, 12, &head->type, 2))
		return false;
	if (!is_tag(head->type) || bpf_skb_load_bytes(skb, ETH_HLEN, tag, 4))
		return true;
	head->outer = head->type;
	head->tci = bpf_ntohs(tag[0]);
	head->type = tag[1];
	head->l3 += 4;
	if (!is_tag(head->type) || bpf_skb_load_bytes(skb, ETH_HLEN + 4, tag, 4))
		return true;
	head->type = tag[1];
	head->l3 += 4;
	return true;
}

static __always_inline __u64 ports_at(struct __sk_buff *skb, __u32 l4, __u8 protocol)
{
	__u16 ports[2];
	__u8 flags;
	__u64 what;

	if ((protocol != 6 && protocol != 17) || bpf_skb_load_bytes(skb, l4, ports, 4))
		return 0;
	what = TNA_STEER_PORTS_KNOWN | (__u64)bpf_ntohs(ports[0]) << TNA_STEER_FROM_PORT_SHIFT |
	       (__u64)bpf_ntohs(ports[1]) << TNA_STEER_TO_PORT_SHIFT;
	if (protocol != 6)
		return what;
	if (bpf_skb_load_bytes(skb, l4 + 13, &flags, 1))
		return 0;
	return what | (__u64)flags << TNA_STEER_TCP_FLAGS_SHIFT;
}

static __always_inline void look_at_ipv4(struct __sk_buff *skb, __u32 l3, struct wanted *wanted)
{
	__u32 header[5];
	__u8 *bytes = (__u8 *)header;
	__u64 what;

	if (bpf_skb_load_bytes(skb, l3, header, sizeof(header)))
		return;
	what = (__u64)bytes[9] << TNA_STEER_PROTOCOL_SHIFT | 4ULL << TNA_STEER_VERSION_SHIFT;
	if (!(header[1] & bpf_htonl(0x1fff)))
		what |= ports_at(skb, l3 + (bytes[0] & 0xf) * 4, bytes[9]);
	wanted->key[TNA_STEER_WHAT] = what;
	wanted->key[TNA_STEER_FROM] = header[3];
	wanted->key[TNA_STEER_TO] = header[4];
}

static __always_inline void look_at_ipv6(struct __sk_buff *skb, __u32 l3, struct wanted *wanted)
{
	__u64 header[5];
	__u8 protocol;

	if (bpf_skb_load_bytes(skb, l3, header, sizeof(header)))
		return;
	protocol = ((__u8 *)header)[6];
	wanted->key[TNA_STEER_WHAT] = (__u64)protocol << TNA_STEER_PROTOCOL_SHIFT |
				      6ULL << TNA_STEER_VERSION_SHIFT | ports_at(skb, l3 + 40, protocol);
	wanted->key[TNA_STEER_FROM] = header[1];
	wanted->key[TNA_STEER_FROM + 1] = header[2];
	wanted->key[TNA_STEER_TO] = header[3];
	wanted->key[TNA_STEER_TO + 1] = header[4];
}

/* The same as look_at() of steer.bpf.c, for the port that the frame came in by. */
static __always_inline bool look_at_buffer(struct __sk_buff *skb, __u32 ifindex, struct wanted *wanted)
{
	struct head head;
	__u64 vlan;

	if (!head_of(skb, &head))
		return false;
	*wanted = (struct wanted){};
	vlan = head.outer ? TNA_STEER_TAGGED | (head.tci & 0xfff) : 0;
	wanted->key[TNA_STEER_WHERE] =
		ifindex | vlan << TNA_STEER_VLAN_SHIFT | (__u64)bpf_ntohs(head.type) << TNA_STEER_TYPE_SHIFT;
	if (head.type == bpf_htons(ETH_P_IP))
		look_at_ipv4(skb, head.l3, wanted);
	else if (head.type == bpf_htons(ETH_P_IPV6))
		look_at_ipv6(skb, head.l3, wanted);
	return true;
}

/*
 * The first rule behind others, and the function that has it: its number times 256 and that of the function,
 * or -1. A function of its own, which the verifier follows once, whatever frame it is called for.
 */
__noinline int next_rule(const struct wanted *wanted, __u32 below)
{
	const struct tna_steer_tables *tables = bpf_map_lookup_elem(&steer_tables, &zero);
	const struct tna_steer_entry *entry;

	if (!tables || !wanted)
		return -1;
	entry = best_for(wanted, tables, below);
	return entry ? entry->rule << 8 | entry->function : -1;
}

/*
 * By the pair again, the tag in the frame this time: another one takes its place, which nobody sees. Where it
 * is refused (its queue is full), all is as it was.
 */
static __always_inline bool send_on(struct __sk_buff *skb, const struct tna_back_taker *taker)
{
	const __u16 port = bpf_htons(taker->port);

	if (bpf_skb_vlan_push(skb, bpf_htons(TNA_BACK_ETHERTYPE), 0))
		return false;
	*(volatile __u32 *)&skb->queue_mapping = taker->queue.queue + 1; /* skb_tx_hash() */
	if (!bpf_skb_store_bytes(skb, ETH_HLEN, &port, sizeof(port), 0) &&
	    !bpf_clone_redirect(skb, skb->ifindex, 0))
		return true;
	(void)bpf_skb_vlan_pop(skb);
	return false;
}

/* Other processors may give to the same socket. */
static __always_inline bool hand_to(struct __sk_buff *skb, const struct tna_back_taker *taker,
				    struct tna_steer_queue *queue)
{
	const __u64 given = __sync_fetch_and_add(&queue->given, 1);

	if (has_room(queue, given) && send_on(skb, taker))
		return true;
	__sync_fetch_and_sub(&queue->given, 1);
	return false;
}

static __always_inline bool give_to(struct __sk_buff *skb, __u32 number, __u32 ifindex,
				    const struct tna_steer_function *function)
{
	struct tna_back_taker_key key = {number, ifindex};
	const struct tna_back_taker *taker = bpf_map_lookup_elem(&back_takers, &key);
	struct tna_steer_queue *queue;

	if (!taker)
		return false;
	queue = queue_at(&taker->queue);
	/* a socket whose process has died is not there any more */
	if (!queue || queue->function != number || !bpf_map_lookup_elem(&steer_sockets, &queue->place))
		return false;
	if (skb->len + 4 > function->longest || skb->len + 4 > TNA_BACK_LONGEST) {
		__sync_fetch_and_add(&queue->too_long, 1);
		return false;
	}
	return hand_to(skb, taker, queue);
}

/* To the function behind the one that gives it back, if the operator wants that. */
static __always_inline enum on give_on(struct __sk_buff *skb, const struct tna_back_to *to)
{
	const __u32 giver = to->function, ifindex = to->ifindex;
	const struct tna_steer_function *function = bpf_map_lookup_elem(&steer_functions, &giver);
	struct tna_steer_counters *counters;
	struct wanted wanted;
	__u32 number, rule;
	int found;

	if (!function || !(function->flags & TNA_STEER_GIVES_ON) || !look_at_buffer(skb, ifindex, &wanted))
		return ON_LINUX;
	found = next_rule(&wanted, function->last);
	if (found < 0)
		return ON_LINUX;
	number = found & 0xff;
	rule = (__u32)found >> 8;
	function = bpf_map_lookup_elem(&steer_functions, &number);
	counters = bpf_map_lookup_elem(&steer_counters, &rule);
	if (!function || !counters || function->flags & TNA_STEER_BYPASS)
		return ON_LINUX;
	if (give_to(skb, number, ifindex, function)) {
		counters->packets++;
		counters->bytes += skb->len - 4;
		return ON_TAKEN;
	}
	counters->otherwise++;
	return function->flags & TNA_STEER_DROP ? ON_DROP : ON_LINUX;
}

#endif
