// SPDX-License-Identifier: GPL-2.0
/* A generator for live frames that are all the same, and a program that computes the IPv4 header checksum of
 * what comes, as often as it is told, and drops what is wrong. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

#define COUNTS 4 /* offered, dropped; of the former: taken by the card, refused by it */
#include "counts.bpf.h"

#define MOST_TIMES 64
#define LOOPBACK_IFINDEX 1

const volatile __u32 times = 1;
const volatile __u32 card = 0; /* by which frames leave that are offered */

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} way SEC(".maps");

static __always_inline __u32 folded_sum(const __u16 *words)
{
	__u32 sum = 0;

#pragma unroll
	for (int i = 0; i < 10; i++)
		sum += words[i];
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16);
}

/* Run with BPF_F_TEST_XDP_LIVE_FRAMES. */
SEC("xdp")
int offer(struct xdp_md *ctx)
{
	count(0, 1);
	return bpf_redirect_map(&way, 0, XDP_DROP);
}

/* Cards send what is redirected to them only while they have a program themselves. */
SEC("xdp")
int pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

SEC("xdp")
int work(struct xdp_md *ctx)
{
	struct ethhdr *header = (struct ethhdr *)(long)ctx->data;
	struct iphdr *packet = (struct iphdr *)(header + 1);
	__u32 wrong = 0;

	if ((void *)(packet + 1) > (void *)(long)ctx->data_end ||
	    header->h_proto != __builtin_bswap16(ETH_P_IP))
		return XDP_PASS;
	for (__u32 i = 0; i < times && i < MOST_TIMES; i++) {
		asm volatile("" ::: "memory"); /* each time anew */
		wrong |= folded_sum((const __u16 *)packet) != 0xffff;
	}
	if (!wrong)
		return XDP_PASS;
	count(1, 1);
	return XDP_DROP;
}

struct net_device {
	int ifindex;
} __attribute__((preserve_access_index));

/* trace_xdp_devmap_xmit(from, to, sent, drops, err). Live frames are as if received by the loopback device.
 */
SEC("raw_tp")
int left(struct bpf_raw_tracepoint_args *ctx)
{
	const struct net_device *from = (const struct net_device *)ctx->args[0];
	const struct net_device *to = (const struct net_device *)ctx->args[1];

	if (BPF_CORE_READ(from, ifindex) != LOOPBACK_IFINDEX || (__u32)BPF_CORE_READ(to, ifindex) != card)
		return 0;
	count(2, (__u32)ctx->args[2]);
	count(3, (__u32)ctx->args[3]);
	return 0;
}

char _license[] SEC("license") = "GPL";
