/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_IPV6_H
#define TNA_PACKET_IPV6_H

/*
 * The IPv6 header of a frame without a tag, or behind as many as there may be: what ip6_rcv_core() asks of
 * it, and what ip6_forward() changes. Of the headers behind it a router looks at one, the hop-by-hop options,
 * which come first.
 */

#include "packet/segment.bpf.h"

#define IPV6_HEADER_LEN 40
#define IPV6_FRAME_MIN (ETH_HLEN + IPV6_HEADER_LEN)
#define IPV6_HOP_OPTIONS 0

/* An address as two numbers, as they lie in the header. */
struct ipv6_address {
	u64 prefix;
	u64 rest;
};

/* Who talks to whom: what a packet is routed by. */
struct ipv6_tuple {
	struct ipv6_address source;
	struct ipv6_address destination;
	u32 protocol; /* type of the next header */
};

struct ipv6 {
	struct ethernet ethernet;
	struct ipv6_tuple tuple;
	u32 version; /* as it lies in the header, and what else the first byte holds */
	u32 total;   /* length with the header, host order */
	u32 hops;
	u32 frame_len; /* of the whole frame, but for tags */
};

/* False: too short to look at. `tags` is known when this is loaded: how many there may be. */
INLINE int ipv6_parse(hook_context *ctx, struct ipv6 *ip, const int tags)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	if (!packet_ethernet(ctx, &data, end, tags, IPV6_FRAME_MIN, &ip->ethernet))
		return 0;
	u32 length_next_hops = *(u32 *)(data + ETH_HLEN + 4);

	ip->version = *(data + ETH_HLEN);
	ip->total = IPV6_HEADER_LEN + bpf_ntohs(length_next_hops & 0xffff);
	ip->tuple.protocol = length_next_hops >> 16 & 0xff;
	ip->hops = length_next_hops >> 24;
	ip->frame_len = packet_untagged_length(ctx, data, end, &ip->ethernet);
	ip->tuple.source.prefix = *(u64 *)(data + ETH_HLEN + 8);
	ip->tuple.source.rest = *(u64 *)(data + ETH_HLEN + 16);
	ip->tuple.destination.prefix = *(u64 *)(data + ETH_HLEN + 24);
	ip->tuple.destination.rest = *(u64 *)(data + ETH_HLEN + 32);
	return 1;
}

/*
 * Another version, hop-by-hop options (without which there are no packets that give their length otherwise,
 * as jumbograms do), or more than the frame holds.
 */
INLINE u64 ipv6_header_wrong(const struct ipv6 *ip)
{
	u64 word = (ip->version & 0xf0) ^ 0x60;

	COLLECT(word, ip->tuple.protocol == IPV6_HOP_OPTIONS);
	COLLECT(word, ((u64)ip->frame_len - ETH_HLEN - ip->total) >> 63);
	return word;
}

INLINE u64 ipv6_expires(const struct ipv6 *ip)
{
	return ((u64)ip->hops - 2) >> 63;
}

/* What a packet looks like one hop further, with tags or (0) none, for which there is room. */
INLINE int ipv6_rewrite(hook_context *ctx, u64 destination, u64 source, u64 tags)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	asm goto("if %0 > %1 goto %l[short_frame]" : : "r"(data + IPV6_FRAME_MIN), "r"(end) : : short_frame);
	packet_readdress(data, destination, source);
	data = packet_write_tags(data, tags);
	*(data + ETH_HLEN + 7) -= 1;
	return 1;
short_frame:
	return 0;
}

#endif
