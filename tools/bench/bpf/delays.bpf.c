// SPDX-License-Identifier: GPL-2.0
/* Gives probes to an AF_XDP socket, or sends them back at once; all else goes to Linux. */
#include <linux/bpf.h>
#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include "delays_shared.h"

struct {
	__uint(type, BPF_MAP_TYPE_XSKMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} socket SEC(".maps");

static __always_inline struct ethhdr *probe(struct xdp_md *ctx)
{
	struct ethhdr *header = (struct ethhdr *)(long)ctx->data;

	if ((void *)(header + 1) > (void *)(long)ctx->data_end || header->h_proto != bpf_htons(PROBE_TYPE))
		return 0;
	return header;
}

SEC("xdp")
int to_socket(struct xdp_md *ctx)
{
	return probe(ctx) ? bpf_redirect_map(&socket, 0, XDP_PASS) : XDP_PASS;
}

SEC("xdp")
int echo(struct xdp_md *ctx)
{
	struct ethhdr *header = probe(ctx);
	__u8 other[ETH_ALEN];

	if (!header)
		return XDP_PASS;
	__builtin_memcpy(other, header->h_dest, ETH_ALEN);
	__builtin_memcpy(header->h_dest, header->h_source, ETH_ALEN);
	__builtin_memcpy(header->h_source, other, ETH_ALEN);
	return XDP_TX;
}

char _license[] SEC("license") = "GPL";
