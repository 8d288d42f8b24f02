/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_NETFILTER_H
#define TNA_CONNECTION_NETFILTER_H

/* What netfilter calls programs with, and the packet in there. */

#include "connection/tracked.bpf.h"
#include "kernel/loop.bpf.h"
#include "packet/ipv6.bpf.h"

#define NF_DROP 0
#define NF_ACCEPT 1

/* include/linux/netfilter.h */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct nf_hook_state {
	struct net_device *in;
	struct net_device *out;
};
#pragma clang attribute pop

/* What the kernel calls these programs with. */
struct bpf_nf_ctx {
	const struct nf_hook_state *state;
	struct sk_buff *skb;
};

extern int bpf_dynptr_from_skb(struct __sk_buff *skb, u64 flags, struct bpf_dynptr *dynptr) __ksym;

/* The pipeline's. */
const volatile __u64 own_net = 0;
const volatile __u64 refresh = 0; /* in jiffies: so old is a connection's entry at most */

INLINE u64 header_of(struct sk_buff *skb)
{
	return KGET(u64, skb, head) + KGET(u16, skb, network_header);
}

INLINE u32 header_protocol(u64 header, const int version)
{
	return version == 6 ? KLOAD(u8, header + 6) : KLOAD(u8, header + 9);
}

INLINE u32 tracked_direction(u64 tracked)
{
	return (tracked & CONNECTION_INFO) == CONNECTION_ESTABLISHED_REPLY;
}

#define HEADERS_MAX 8192 /* of IPv6, before TCP's: no packet has more */

/* The length of a header that connection tracking passes over (ipv6_skip_exthdr()), by what its second byte
 * says; 0: it does not. A fragment that is the whole packet keeps its header. */
INLINE u32 header_passed_over(u32 protocol, u32 says)
{
	if (protocol == 0 || protocol == 43 || protocol == 60) /* hops, routing, destination */
		return (says + 1) * 8;
	if (protocol == 51) /* authentication */
		return (says + 2) * 4;
	return protocol == 44 ? 8 : 0;
}

/* How long the headers in front of TCP's are; 0: that is not known. */
APART u32 length_before_tcp6(struct bpf_nf_ctx *ctx)
{
	u32 protocol = KLOAD(u8, header_of(KCAST(struct sk_buff, ctx->skb)) + 6), before = IPV6_HEADER_LEN;
	struct bpf_dynptr packet;
	struct search tcp;
	u8 header[2] = {};

	if (protocol == PROTOCOL_TCP)
		return before;
	if (bpf_dynptr_from_skb((struct __sk_buff *)ctx->skb, 0, &packet))
		return 0;
	SEARCH (tcp, HEADERS_MAX) {
		if (bpf_dynptr_read(header, sizeof(header), &packet, before, 0))
			CONCLUDE(tcp, search_none());
		u32 length = header_passed_over(protocol, header[1]);

		if (!length)
			CONCLUDE(tcp, search_none());
		protocol = header[0];
		before += length;
		if (protocol == PROTOCOL_TCP)
			CONCLUDE(tcp, search_found(before));
	}
	return found_or_linux(tcp) & 0xffff;
}

INLINE u32 length_before_tcp(struct bpf_nf_ctx *ctx, const int version)
{
	if (version == 6)
		return length_before_tcp6(ctx);
	return (KLOAD(u8, header_of(KCAST(struct sk_buff, ctx->skb))) & 0xf) * 4;
}

#endif
