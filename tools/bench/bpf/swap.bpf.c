// SPDX-License-Identifier: GPL-2.0
/* What a network function that swaps addresses does, by XDP_TX; and the end that offers frames, counts what
 * has come back, and compares it. */
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_helpers.h>

#define WORDS 8
#define OFFERED 2

const volatile __u64 expected[WORDS] = {};
const volatile __u64 addresses[2] = {}; /* and what follows them in the second word */

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} way SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 3); /* returned as expected, returned otherwise, offered */
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

static __always_inline void count(__u32 which)
{
	__u64 *own = bpf_map_lookup_elem(&counts, &which);

	if (own)
		(*own)++;
}

/* Run with BPF_F_TEST_XDP_LIVE_FRAMES, which uses memory again as it comes back: with its addresses swapped.
 */
SEC("xdp")
int give(struct xdp_md *ctx)
{
	__u64 *words = (__u64 *)(long)ctx->data;

	if ((void *)(words + 2) > (void *)(long)ctx->data_end)
		return XDP_ABORTED;
	words[0] = addresses[0];
	words[1] = addresses[1];
	count(OFFERED);
	return bpf_redirect_map(&way, 0, XDP_DROP);
}

SEC("xdp")
int swap(struct xdp_md *ctx)
{
	struct ethhdr *header = (struct ethhdr *)(long)ctx->data;
	unsigned char kept[ETH_ALEN];

	if ((void *)(header + 1) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	__builtin_memcpy(kept, header->h_dest, ETH_ALEN);
	__builtin_memcpy(header->h_dest, header->h_source, ETH_ALEN);
	__builtin_memcpy(header->h_source, kept, ETH_ALEN);
	return XDP_TX;
}

SEC("xdp")
int take(struct xdp_md *ctx)
{
	const __u64 *words = (const __u64 *)(long)ctx->data;
	__u32 otherwise = 0;

	if ((void *)(words + WORDS) > (void *)(long)ctx->data_end)
		return XDP_PASS;
#pragma unroll
	for (int i = 0; i < WORDS; i++)
		otherwise |= words[i] != expected[i];
	count(otherwise);
	return XDP_DROP;
}

char _license[] SEC("license") = "GPL";
