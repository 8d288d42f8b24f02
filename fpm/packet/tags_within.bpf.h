/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_TAGS_WITHIN_H
#define TNA_PACKET_TAGS_WITHIN_H

/* Where a frame's tags are among its bytes; a part of packet/tag.bpf.h. */

/* The outer tag. The data is moved behind it, to where the frame's EtherType would be without. */
INLINE u64 packet_outer_tag(hook_context *ctx, u8 **data)
{
	u64 tag = packet_tag(*data);

	*data += tag_length(tag);
	return tag;
}

/*
 * False if there is no room in front of the frame, which then is as it was. The bounds are known to hold
 * (packet_parse()); the verifier wants to see them tested again.
 */
NOINLINE int retag_frame(hook_context *ctx, u64 retag, u32 protocol)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);
	u32 tag = protocol | (u32)bpf_htons(retag) << 16;

	if (data + PACKET_MIN > end)
		return 0;
	if (retag & RETAG_WRITE) {
		*(u16 *)(data + ETH_HLEN) = tag >> 16;
		return 1;
	}
	u64 destination = *(u64 *)data;
	u32 source = *(u32 *)(data + 8);

	if (hook_move_head(ctx, retag & RETAG_POP ? VLAN_HLEN : -VLAN_HLEN))
		return 0;
	data = hook_data(ctx);
	end = hook_data_end(ctx);
	if (data + PACKET_MIN - VLAN_HLEN > end)
		return 0;
	*(u64 *)data = destination;
	*(u32 *)(data + 8) = source;
	if (retag & RETAG_PUSH)
		*(u32 *)(data + 12) = tag;
	return 1;
}

INLINE int tags_cannot_be_replaced(hook_context *ctx, u64 old, u64 tags)
{
	return 0;
}

/* Makes room for other tags than a frame has, which packet_write_tags() then writes; 0 if that was possible.
 */
INLINE long replace_tags(hook_context *ctx, u64 old, u64 tags)
{
	if (tags_length(old) == tags_length(tags))
		return 0;
	return hook_move_head(ctx, (int)tags_length(old) - (int)tags_length(tags));
}

/* Puts them into a frame that is long enough; says where its EtherType would be without. */
INLINE u8 *packet_write_tags(u8 *data, u64 tags)
{
	if (tags) {
		*(u32 *)(data + 2 * ETH_ALEN) = tags;
		data += VLAN_HLEN;
		if (tags >> 32) {
			*(u32 *)(data + 2 * ETH_ALEN) = tags >> 32;
			data += VLAN_HLEN;
		}
	}
	return data;
}

#endif
