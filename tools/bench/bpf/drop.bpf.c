// SPDX-License-Identifier: GPL-2.0
/* A generator for live frames that are all the same, and a program that computes the IPv4 header checksum of
 * what comes, as often as it is told, and drops what is wrong. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>

#include <bpf/bpf_helpers.h>

#define MOST_TIMES 64

const volatile __u32 times = 1;

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} way SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 2); /* offered, dropped */
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline void count(__u32 which)
{
	__u64 *own = bpf_map_lookup_elem(&counts, &which);

	if (own)
		(*own)++;
}

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
	count(0);
	return bpf_redirect_map(&way, 0, XDP_DROP);
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
	count(1);
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
