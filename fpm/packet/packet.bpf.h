/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_H
#define TNA_PACKET_H

/* What modules know of a frame, and where it came in. */

#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>

#include "packet/hook.bpf.h"

#define MAC_MASK 0xffffffffffffULL
#define MAC_MULTICAST 1ULL         /* the group bit, as it lies in a little-endian number */
#define MAC_LINK_LOCAL 0xc28001ULL /* 01:80:c2:00:00:00 to 0f */
#define MAC_LINK_LOCAL_MASK 0xf0ffffffffffULL

/* Linux needs no more than this to bridge a frame; shorter ones are left to it. */
#define PACKET_MIN 34

#define VLAN_HLEN 4

struct packet {
	u64 destination; /* MAC addresses, as numbers in memory order */
	u64 source;
	u32 len;      /* with the tag */
	u32 protocol; /* EtherType in network order */
	u32 behind;   /* the two bytes after it: of a tag, its TCI in network order */
	u32 inner;    /* the next two: the EtherType behind a tag */
};

/* Where the tag is not in the frame: as if it were. */
INLINE void packet_insert_tag(struct packet *packet, u32 tag)
{
	if (!tag)
		return;
	packet->inner = packet->protocol;
	packet->behind = tag >> 16;
	packet->protocol = tag & 0xffff;
	packet->len += VLAN_HLEN;
}

/* False: too short to look at. */
INLINE int packet_parse(hook_context *ctx, struct packet *packet)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	asm goto("if %0 > %1 goto %l[short_frame]" : : "r"(data + PACKET_MIN), "r"(end) : : short_frame);
	u64 first = *(u64 *)data, second = *(u64 *)(data + ETH_ALEN);
	packet->destination = first & MAC_MASK;
	packet->source = second & MAC_MASK;
	packet->protocol = second >> 48;
	packet->behind = *(u16 *)(data + ETH_HLEN);
	packet->inner = *(u16 *)(data + ETH_HLEN + 2);
	packet->len = hook_bytes(ctx, data, end);
	packet_insert_tag(packet, hook_hidden_tag(ctx));
	return 1;
short_frame:
	return 0;
}

/* The Ethernet header, and if it is there the tag, of a frame that is too short to be forwarded here. */
INLINE int packet_parse_short(hook_context *ctx, struct packet *packet)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	if (data + ETH_HLEN > end)
		return 0;
	packet->destination = *(u64 *)data & MAC_MASK;
	packet->source = *(u64 *)(data + ETH_ALEN) & MAC_MASK;
	packet->protocol = *(u16 *)(data + 2 * ETH_ALEN);
	if (data + ETH_HLEN + 4 <= end) {
		packet->behind = *(u16 *)(data + ETH_HLEN);
		packet->inner = *(u16 *)(data + ETH_HLEN + 2);
	}
	packet_insert_tag(packet, hook_hidden_tag(ctx));
	return 1;
}

/* For a frame that is known to be long enough. */
INLINE void packet_readdress(u8 *data, u64 destination, u64 source)
{
	*(u64 *)data = (destination & MAC_MASK) | source << 48;
	*(u32 *)(data + 8) = source >> 16;
}

/*
 * Where a helper is called afterwards: clang would keep the two pointers instead, as 32-bit numbers, which
 * the verifier does not take.
 */
INLINE u32 packet_length(hook_context *ctx)
{
	u32 len = hook_bytes(ctx, hook_data(ctx), hook_data_end(ctx));

	asm volatile("" : "+r"(len));
	return len + (hook_hidden_tag(ctx) ? VLAN_HLEN : 0);
}

INLINE int is_vlan(u32 protocol)
{
	return protocol == bpf_htons(ETH_P_8021Q) || protocol == bpf_htons(ETH_P_8021AD);
}

/* Whether the frame is one of IPv4 or IPv6 for this MAC address, without a tag or, if there may be one,
 * behind it. */
INLINE int packet_ip_for(hook_context *ctx, u64 station, const int tags)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	if (data + PACKET_MIN > end || (*(u64 *)data & MAC_MASK) != station)
		return 0;
	u32 protocol = *(u16 *)(data + 2 * ETH_ALEN);

	if (!tags && hook_hidden_tag(ctx))
		return 0;
	if (tags && !HOOK_TAGS_BESIDE && is_vlan(protocol))
		protocol = *(u16 *)(data + ETH_HLEN + 2);
	return protocol == bpf_htons(ETH_P_IP) || protocol == bpf_htons(ETH_P_IPV6);
}

/* The EtherType behind one VLAN tag: what the kernel calls skb->protocol after skb_vlan_untag(). */
INLINE u32 packet_inner_protocol(hook_context *ctx)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	if (data + PACKET_MIN > end)
		return 0;
	return HOOK_TAGS_BESIDE ? *(u16 *)(data + 2 * ETH_ALEN) : *(u16 *)(data + ETH_HLEN + 2);
}

#endif
