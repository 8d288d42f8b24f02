// SPDX-License-Identifier: GPL-2.0
/*
 * The way back to Linux for frames that network functions have had. A function sends them into one end of a
 * pair of veths, with a tag in front of their EtherType that says by which of its ports they came in. At the
 * other end this takes the tag off and has Linux receive them by that port, or sends them back by the pair to
 * the function that is next. A filter of tc, because that stays for as long as the device does, whoever has
 * put it there: what comes by the device is for nobody else.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

#include "steer/next.bpf.h"

/* Which ports a function may name; it cannot change its sockets' mark. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TNA_BACK_PORTS);
	__type(key, struct tna_back_port);
	__type(value, struct tna_back_to);
} back_ports SEC(".maps");

SEC("tc")
int back(struct __sk_buff *skb)
{
	struct tna_back_port port = {.mark = skb->mark, .port = skb->vlan_tci & 0xfff};
	const struct tna_back_to *to = bpf_map_lookup_elem(&back_ports, &port);

	if (!to || !skb->vlan_present)
		return TC_ACT_SHOT;
	switch (give_on(skb, to)) {
	case ON_TAKEN:
		return TC_ACT_STOLEN;
	case ON_DROP:
		return TC_ACT_SHOT;
	default:
		break;
	}
	/* The kernel has taken the tag out of the frame before (skb_vlan_untag()); the next one takes its
	 * place, as it would in a frame that comes in with it. */
	if (bpf_skb_vlan_pop(skb))
		return TC_ACT_SHOT;
	/* one by one, as the kernel wants it: clang would write both at once */
	*(volatile __u32 *)&skb->mark = 0;
	*(volatile __u32 *)&skb->queue_mapping = 0;
	/* a clone: it has no socket, which filters at egress would see */
	return bpf_clone_redirect(skb, to->ifindex, BPF_F_INGRESS) ? TC_ACT_SHOT : TC_ACT_STOLEN;
}

/* Where functions send into, and the next one receives: nothing else arrives there. */
SEC("xdp.frags")
int arrive(struct xdp_md *ctx)
{
	struct tna_steer_queue_key key = {ctx->ingress_ifindex, ctx->rx_queue_index};
	const struct tna_steer_queue *queue = queue_at(&key);

	return queue ? bpf_redirect_map(&steer_sockets, queue->place, XDP_DROP) : XDP_DROP;
}

char _license[] SEC("license") = "GPL";
