/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_IPV4_H
#define TNA_PACKET_IPV4_H

/*
 * The IPv4 header of a frame without a tag, or behind as many as there may be: what ip_rcv() asks of it,
 * and what ip_forward() changes.
 */

#include "packet/segment.bpf.h"

#define IPV4_HEADER_LEN 20
#define IPV4_START_PLAIN 0x45u /* version 4, no options */

/* Who talks to whom: what a packet is routed by, apart from its type of service. */
struct ipv4_tuple {
	u64 addresses; /* source, and above it destination, as they lie in the header */
	u32 protocol;
};

/* The header's words, as they lie in the frame. */
struct ipv4 {
	struct ethernet ethernet;
	struct ipv4_tuple tuple;
	u32 start; /* EtherType, version and header length, TOS */
	u32 ttl;
	u32 total;     /* total length, host order */
	u32 checksum;  /* 0 if the header's checksum is right */
	u32 frame_len; /* of the whole frame, but for tags */
};

/* False: too short to look at. `tags` is known when this is loaded: how many there may be. */
INLINE int ipv4_parse(hook_context *ctx, struct ipv4 *ip, const int tags)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	if (!packet_ethernet(ctx, &data, end, tags, PACKET_MIN, &ip->ethernet))
		return 0;
	u32 first = *(u32 *)(data + ETH_HLEN), second = *(u32 *)(data + ETH_HLEN + 4);
	u32 third = *(u32 *)(data + ETH_HLEN + 8);
	u32 source = *(u32 *)(data + ETH_HLEN + 12), destination = *(u32 *)(data + ETH_HLEN + 16);
	u64 sum = (u64)first + second + third + source + destination;

	ip->start = *(u32 *)(data + ETH_HLEN - 2);
	if (!tags && hook_hidden_tag(ctx)) /* another EtherType, as if it were in the frame */
		ip->start = (ip->start & ~0xffffu) | (hook_hidden_tag(ctx) & 0xffff);
	ip->ttl = third & 0xff;
	ip->tuple.protocol = third >> 8 & 0xff;
	ip->total = bpf_ntohs(first >> 16);
	ip->tuple.addresses = (u64)destination << 32 | source;
	ip->frame_len = packet_untagged_length(ctx, data, end, &ip->ethernet);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	ip->checksum = sum ^ 0xffff;
	return 1;
}

/* The frame is one of IPv4 and has no options. */
INLINE int ipv4_start_plain(u32 start)
{
	return (start & 0xffffff) == (bpf_htons(ETH_P_IP) | IPV4_START_PLAIN << 16);
}

/* The header says more than the frame holds, or less than a header. */
INLINE u64 ipv4_length_wrong(const struct ipv4 *ip)
{
	return ((u64)ip->frame_len - ETH_HLEN - ip->total | (u64)ip->total - IPV4_HEADER_LEN) >> 63;
}

INLINE u64 ipv4_expires(const struct ipv4 *ip)
{
	return ((u64)ip->ttl - 2) >> 63;
}

/*
 * What a packet looks like one hop further, with tags or (0) none, for which there is room
 * (ip_decrease_ttl(): the checksum's carry comes back in).
 */
INLINE int ipv4_rewrite(hook_context *ctx, u64 destination, u64 source, u64 tags)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	asm goto("if %0 > %1 goto %l[short_frame]" : : "r"(data + PACKET_MIN), "r"(end) : : short_frame);
	packet_readdress(data, destination, source);
	data = packet_write_tags(data, tags);
	u32 checksum = *(u16 *)(data + ETH_HLEN + 10) + bpf_htons(0x0100);

	*(u8 *)(data + ETH_HLEN + 8) -= 1;
	*(u16 *)(data + ETH_HLEN + 10) = checksum + (checksum >= 0xffff);
	return 1;
short_frame:
	return 0;
}

#endif
