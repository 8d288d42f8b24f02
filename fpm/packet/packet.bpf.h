/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_H
#define TNA_PACKET_H

/* What modules know of a frame, and where it came in. */

#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>

#include "kernel/access.h"

#define MAC_MASK 0xffffffffffffULL
#define MAC_MULTICAST 1ULL         /* the group bit, as it lies in a little-endian number */
#define MAC_LINK_LOCAL 0xc28001ULL /* 01:80:c2:00:00:00 to 0f */
#define MAC_LINK_LOCAL_MASK 0xf0ffffffffffULL

/* Linux needs no more than this to bridge a frame; shorter ones are left to it. */
#define PACKET_MIN 34

struct packet {
	u64 destination; /* MAC addresses, as numbers in memory order */
	u64 source;
	u32 len;
	u32 protocol; /* EtherType in network order */
	u32 behind;   /* the two bytes after it: of a tag, its TCI in network order */
	u32 inner;    /* the next two: the EtherType behind a tag */
};

/* False: too short to look at. */
INLINE int packet_parse(struct xdp_md *ctx, struct packet *packet)
{
	u8 *data = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;

	asm goto("if %0 > %1 goto %l[short_frame]" : : "r"(data + PACKET_MIN), "r"(end) : : short_frame);
	u64 first = *(u64 *)data, second = *(u64 *)(data + ETH_ALEN);
	packet->destination = first & MAC_MASK;
	packet->source = second & MAC_MASK;
	packet->protocol = second >> 48;
	packet->behind = *(u16 *)(data + ETH_HLEN);
	packet->inner = *(u16 *)(data + ETH_HLEN + 2);
	packet->len = end - data;
	return 1;
short_frame:
	return 0;
}

/* The Ethernet header, and if it is there the tag, of a frame that is too short to be forwarded here. */
INLINE int packet_parse_short(struct xdp_md *ctx, struct packet *packet)
{
	u8 *data = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;

	if (data + ETH_HLEN > end)
		return 0;
	packet->destination = *(u64 *)data & MAC_MASK;
	packet->source = *(u64 *)(data + ETH_ALEN) & MAC_MASK;
	packet->protocol = *(u16 *)(data + 2 * ETH_ALEN);
	if (data + ETH_HLEN + 4 <= end) {
		packet->behind = *(u16 *)(data + ETH_HLEN);
		packet->inner = *(u16 *)(data + ETH_HLEN + 2);
	}
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
INLINE u32 packet_length(struct xdp_md *ctx)
{
	u32 len = (u8 *)(long)ctx->data_end - (u8 *)(long)ctx->data;

	asm volatile("" : "+r"(len));
	return len;
}

INLINE int is_vlan(u32 protocol)
{
	return protocol == bpf_htons(ETH_P_8021Q) || protocol == bpf_htons(ETH_P_8021AD);
}

/* Whether the frame is one of IPv4 or IPv6 for this MAC address, without a tag or, if there may be one,
 * behind it. */
INLINE int packet_ip_for(struct xdp_md *ctx, u64 station, const int tags)
{
	u8 *data = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;

	if (data + PACKET_MIN > end || (*(u64 *)data & MAC_MASK) != station)
		return 0;
	u32 protocol = *(u16 *)(data + 2 * ETH_ALEN);

	if (tags && is_vlan(protocol))
		protocol = *(u16 *)(data + ETH_HLEN + 2);
	return protocol == bpf_htons(ETH_P_IP) || protocol == bpf_htons(ETH_P_IPV6);
}

/* The address of the device that the frame came in by. */
INLINE u64 ingress_device(struct xdp_buff *xdp)
{
	struct xdp_rxq_info *queue = KCAST(struct xdp_rxq_info, xdp->rxq);

	return KGET(u64, queue, dev);
}

/* The EtherType behind one VLAN tag: what the kernel calls skb->protocol after skb_vlan_untag(). */
INLINE u32 packet_inner_protocol(struct xdp_md *ctx)
{
	u8 *data = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;

	return data + PACKET_MIN > end ? 0 : *(u16 *)(data + ETH_HLEN + 2);
}

#endif
