/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_TAG_H
#define TNA_PACKET_TAG_H

/* The VLAN tag of a frame: what it says, what is to become of it, and how the frame gets, loses or changes
 * one. */

#include <tna/decision.h>

#include "packet/packet.bpf.h"

#define VLAN_ID 0xfffu
#define VLAN_TAGGED (1u << 16) /* beside a TCI: the frame has a tag of the bridge's own kind */

/* What is to be done with a frame's outer tag: the TCI that it is to carry (host order), and how. */
#define RETAG_PUSH TNA_RETAG_PUSH
#define RETAG_POP TNA_RETAG_POP
#define RETAG_WRITE TNA_RETAG_WRITE
#define RETAG_ANY (RETAG_PUSH | RETAG_POP | RETAG_WRITE)
#define RETAG_MASK (RETAG_ANY | 0xffff)

/*
 * The frame's tag, TCI in host order, with VLAN_TAGGED; 0 if it has none of the bridge's own kind, whose
 * EtherType in network order is `protocol`. Another tag is payload: Linux pushes it back in and takes the
 * frame as untagged.
 */
INLINE u64 vlan_tag(const struct packet *packet, u64 protocol)
{
	u64 other = packet->protocol ^ protocol;
	u64 tagged = (other - 1) >> 63; /* the same protocol, without a branch */

	return (bpf_ntohs(packet->behind) | VLAN_TAGGED) & -tagged;
}

/* The tag with its VLAN: untagged and priority-tagged frames (VLAN id 0) are of the port's PVID. */
INLINE u64 vlan_complete(u64 tag, u64 pvid)
{
	u64 none = ((tag & VLAN_ID) - 1) >> 63;

	return tag | (pvid & -none);
}

/* What a completed tag becomes where frames leave untagged (1) or tagged (0), of a frame whose tag was this.
 */
INLINE u64 vlan_retag(u64 tag, u64 completed, u64 untagged)
{
	u64 in = tag / VLAN_TAGGED, out = untagged ^ 1;
	u64 changed = ((tag ^ completed) + VLAN_ID) >> 12; /* 0 or 1 */

	return (completed & 0xffff) | (out & ~in) * RETAG_PUSH | (in & ~out) * RETAG_POP |
	       (in & out & changed) * RETAG_WRITE;
}

/* How long the frame is afterwards. */
INLINE u32 retag_length(u32 len, u64 retag)
{
	return len + (retag >> 14 & VLAN_HLEN) - (retag >> 15 & VLAN_HLEN);
}

/*
 * A frame's tag of either kind as it lies there, TCI above the EtherType; 0 if it has none. Without a branch,
 * which would double what the verifier has to follow. The frame is known to be long enough.
 */
INLINE u32 packet_tag(const u8 *data)
{
	u64 word = *(const u32 *)(data + 2 * ETH_ALEN), protocol = word & 0xffff;
	u64 other = (protocol ^ bpf_htons(ETH_P_8021Q)) * (protocol ^ bpf_htons(ETH_P_8021AD));

	return word & -((other - 1) >> 63);
}

/* Of the bits of a tag, one that both EtherTypes have. */
INLINE u64 tag_length(u64 tag)
{
	_Static_assert((ETH_P_8021Q >> 8 & ETH_P_8021AD >> 8) >> 7 == 1, "the bit below");
	return tag >> 5 & VLAN_HLEN;
}

/* Of two tags: the outer one, and above it the inner one, which there is not without the other. */
INLINE u64 tags_length(u64 tags)
{
	return tag_length(tags) + tag_length(tags >> 32);
}

#if HOOK_TAGS_BESIDE
#include "packet/tags_beside.bpf.h"
#else
#include "packet/tags_within.bpf.h"
#endif

/* What is in front of a packet of IPv4 or IPv6. */
struct ethernet {
	u64 mac;  /* destination MAC address */
	u64 tags; /* see tags_length() */
};

/*
 * Reads it, with so many tags at most; the data is moved to where the frame would begin without them. False
 * if it then is shorter than `shortest`. Both numbers are known when this is compiled or loaded.
 */
INLINE int packet_ethernet(hook_context *ctx, u8 **data, const u8 *end, const int most, const int shortest,
			   struct ethernet *ethernet)
{
	asm goto("if %0 > %1 goto %l[short_frame]" : : "r"(*data + shortest), "r"(end) : : short_frame);
	ethernet->mac = *(u64 *)*data & MAC_MASK;
	ethernet->tags = 0;
	if (most) {
		ethernet->tags = packet_outer_tag(ctx, data);
		asm goto("if %0 > %1 goto %l[short_frame]"
			 :
			 : "r"(*data + shortest), "r"(end)
			 :
			 : short_frame);
	}
	if (most > 1) {
		u64 inner = packet_tag(*data);

		ethernet->tags |= inner << 32;
		*data += tag_length(inner);
		asm goto("if %0 > %1 goto %l[short_frame]"
			 :
			 : "r"(*data + shortest), "r"(end)
			 :
			 : short_frame);
	}
	return 1;
short_frame:
	return 0;
}

/* How long a frame is without its tags, of which packet_ethernet() has read both and moved the data. */
INLINE u32 packet_untagged_length(hook_context *ctx, const u8 *data, const u8 *end,
				  const struct ethernet *ethernet)
{
	u64 within = HOOK_TAGS_BESIDE ? ethernet->tags >> 32 : 0;

	return hook_bytes(ctx, data, end) - tag_length(within);
}

/* So many tags of a frame at most, that may be too short. */
INLINE u64 packet_tags(hook_context *ctx, u32 most)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	if (!most || data + PACKET_MIN > end)
		return 0;
	u64 outer = packet_outer_tag(ctx, &data);

	return most < 2 || data + PACKET_MIN > end ? outer : outer | (u64)packet_tag(data) << 32;
}

#endif
