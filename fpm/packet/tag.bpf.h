/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_TAG_H
#define TNA_PACKET_TAG_H

/* Putting a VLAN tag into a frame, taking it out, and changing it. */

#include "packet/packet.bpf.h"

#define VLAN_HLEN 4

/* What is to be done with a frame's outer tag: the TCI that it is to carry (host order), and how. */
#define RETAG_PUSH (1ULL << 16)
#define RETAG_POP (1ULL << 17)
#define RETAG_WRITE (1ULL << 18) /* the tag stays, its TCI does not */
#define RETAG_ANY (RETAG_PUSH | RETAG_POP | RETAG_WRITE)
#define RETAG_MASK (RETAG_ANY | 0xffff)

/* How long the frame is afterwards. */
INLINE u32 retag_length(u32 len, u64 retag)
{
	return len + (retag >> 14 & VLAN_HLEN) - (retag >> 15 & VLAN_HLEN);
}

/*
 * False if there is no room in front of the frame, which then is as it was. The bounds are known to hold
 * (packet_parse()); the verifier wants to see them tested again.
 */
NOINLINE int retag_frame(struct xdp_md *ctx, u64 retag, u32 protocol)
{
	u8 *data = (u8 *)(long)ctx->data, *end = (u8 *)(long)ctx->data_end;
	u32 tag = protocol | (u32)bpf_htons(retag) << 16;

	if (data + PACKET_MIN > end)
		return 0;
	if (retag & RETAG_WRITE) {
		*(u16 *)(data + ETH_HLEN) = tag >> 16;
		return 1;
	}
	u64 destination = *(u64 *)data;
	u32 source = *(u32 *)(data + 8);

	if (bpf_xdp_adjust_head(ctx, retag & RETAG_POP ? VLAN_HLEN : -VLAN_HLEN))
		return 0;
	data = (u8 *)(long)ctx->data;
	end = (u8 *)(long)ctx->data_end;
	if (data + PACKET_MIN - VLAN_HLEN > end)
		return 0;
	*(u64 *)data = destination;
	*(u32 *)(data + 8) = source;
	if (retag & RETAG_PUSH)
		*(u32 *)(data + 12) = tag;
	return 1;
}

#endif
