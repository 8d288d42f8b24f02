/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_NETFILTER_H
#define TNA_CONNECTION_NETFILTER_H

/* What netfilter calls programs with, and the packet in there. */

#include "connection/tracked.bpf.h"

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

/* How long the headers in front of TCP's are; 0: what is there is not known. */
INLINE u32 length_before_tcp(u64 header, const int version)
{
	if (header_protocol(header, version) != PROTOCOL_TCP)
		return 0;
	return version == 6 ? IPV6_HEADER_LEN : (KLOAD(u8, header) & 0xf) * 4;
}

#endif
