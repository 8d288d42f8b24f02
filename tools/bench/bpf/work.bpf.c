// SPDX-License-Identifier: GPL-2.0
/* What tna-workload does, by XDP. */
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/udp.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#define COUNTS 1 /* dropped */
#include "counts.bpf.h"
#include "work_shared.h"

#define MOST_TIMES 64
#define SEGMENT (WORK_FRAME - 34) /* bytes behind Ethernet and IPv4 */

const volatile __u32 kind = WORK_MACSWAP;
const volatile __u32 then = XDP_TX; /* what becomes of frames that are not dropped */
const volatile __u32 times = 1;
const volatile __u32 mask = 0; /* of lines of the table */

__u64 drawn = 1;
__u64 result = 0; /* of all that was read, so that it is read */

struct line {
	__u64 words[WORK_LINE / 8];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct line);
} lines SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct work_flow);
	__type(value, struct work_backend);
} blocked SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct work_flow);
	__type(value, struct work_backend);
} sessions SEC(".maps");

static __always_inline __u32 halves(__u32 value)
{
	return (value & 0xffff) + (value >> 16);
}

static __always_inline __u16 folded(__u32 sum)
{
	sum = (sum & 0xffff) + (sum >> 16);
	return (__u16)((sum & 0xffff) + (sum >> 16));
}

static __always_inline void swap_addresses(struct ethhdr *header)
{
	unsigned char kept[ETH_ALEN];

	__builtin_memcpy(kept, header->h_dest, ETH_ALEN);
	__builtin_memcpy(header->h_dest, header->h_source, ETH_ALEN);
	__builtin_memcpy(header->h_source, kept, ETH_ALEN);
}

static __always_inline int drop(void)
{
	count(0, 1);
	return XDP_DROP;
}

/* Of UDP in IPv4 without options that is no fragment. */
static __always_inline struct udphdr *segment_of(struct xdp_md *ctx, struct iphdr **packet)
{
	struct ethhdr *header = (struct ethhdr *)(long)ctx->data;
	struct iphdr *ip = (struct iphdr *)(header + 1);
	struct udphdr *udp = (struct udphdr *)(ip + 1);

	if ((void *)(udp + 1) > (void *)(long)ctx->data_end || header->h_proto != bpf_htons(ETH_P_IP) ||
	    *(__u8 *)ip != 0x45 || ip->frag_off & bpf_htons(0x3fff) || ip->protocol != IPPROTO_UDP)
		return 0;
	*packet = ip;
	return udp;
}

/* Of frames as this benchmark offers them, which saves a look at each word. */
static __always_inline void write_checksum(struct xdp_md *ctx)
{
	struct iphdr *ip;
	struct udphdr *udp = segment_of(ctx, &ip);
	__u16 sum = 0;

	if (!udp || (char *)udp + SEGMENT > (char *)(long)ctx->data_end || udp->len != bpf_htons(SEGMENT))
		return;
	udp->check = 0;
	for (__u32 i = 0; i < times && i < MOST_TIMES; i++) {
		const __u16 *words = (const __u16 *)udp;
		__u32 whole = halves(ip->saddr) + halves(ip->daddr) + bpf_htons(IPPROTO_UDP) + udp->len;

		asm volatile("" ::: "memory"); /* each time anew */
#pragma unroll
		for (int at = 0; at < SEGMENT / 2; at++)
			whole += words[at];
		sum = ~folded(whole);
		asm volatile("" : "+r"(sum)); /* needed each time */
	}
	udp->check = sum ? sum : 0xffff;
}

static __always_inline void read_line(void)
{
	struct line *line;
	__u32 number;

	drawn = drawn * 6364136223846793005ULL + 1442695040888963407ULL;
	number = (drawn >> 32) & mask;
	line = bpf_map_lookup_elem(&lines, &number);
	if (line)
		result += line->words[0];
}

static __always_inline __u16 updated(__u16 checksum, __u32 removed, __u32 added)
{
	return ~folded((__u16)~checksum + (__u16)~folded(removed) + added);
}

static __always_inline void redirect(struct iphdr *ip, struct udphdr *udp, const struct work_backend *backend)
{
	__u32 removed = halves(ip->daddr), added = halves(backend->address);

	ip->check = updated(ip->check, removed, added);
	if (udp->check) {
		udp->check = updated(udp->check, removed + udp->dest, added + backend->port);
		udp->check = udp->check ? udp->check : 0xffff;
	}
	ip->daddr = backend->address;
	udp->dest = backend->port;
}

/* Whether it passes. */
static __always_inline int filter(struct xdp_md *ctx)
{
	const struct work_backend *backend;
	struct work_flow flow = {};
	struct udphdr *udp;
	struct iphdr *ip;

	udp = segment_of(ctx, &ip);
	if (!udp)
		return 1;
	flow.from = ip->saddr;
	flow.to = ip->daddr;
	flow.from_port = udp->source;
	flow.to_port = udp->dest;
	flow.protocol = IPPROTO_UDP;
	if (bpf_map_lookup_elem(&blocked, &flow))
		return 0;
	if (kind != WORK_CHAIN)
		return 1;
	backend = bpf_map_lookup_elem(&sessions, &flow);
	if (backend)
		redirect(ip, udp, backend);
	return 1;
}

SEC("xdp")
int treat(struct xdp_md *ctx)
{
	struct ethhdr *header = (struct ethhdr *)(long)ctx->data;

	if ((void *)(header + 1) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	if (kind == WORK_CHECKSUM)
		write_checksum(ctx);
	if (kind == WORK_LOOKUP)
		read_line();
	if ((kind == WORK_FIREWALL || kind == WORK_CHAIN) && !filter(ctx))
		return drop();
	header = (struct ethhdr *)(long)ctx->data;
	if ((void *)(header + 1) > (void *)(long)ctx->data_end)
		return XDP_PASS;
	swap_addresses(header);
	return then == XDP_DROP ? drop() : (int)then;
}

char _license[] SEC("license") = "GPL";
