/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_TAGS_BESIDE_H
#define TNA_PACKET_TAGS_BESIDE_H

/* Where a frame's outer tag is beside its bytes, in a field of its socket buffer; a part of packet/tag.bpf.h.
 */

/* The outer tag. The data stays where it is: there lies the frame without that tag. */
INLINE u64 packet_outer_tag(hook_context *ctx, u8 **data)
{
	return hook_hidden_tag(ctx);
}

/* Whether a second tag lies in the frame: taking the outer one off moves it, which may fail half-way. */
INLINE int packet_tagged_twice(hook_context *ctx)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	return data + PACKET_MIN > end || packet_tag(data);
}

/* False if that is not possible; the frame then is as it was. */
NOINLINE int retag_frame(hook_context *ctx, u64 retag, u32 protocol)
{
	if (retag & (RETAG_POP | RETAG_WRITE) && (packet_tagged_twice(ctx) || bpf_skb_vlan_pop(ctx)))
		return 0;
	return retag & RETAG_POP || !bpf_skb_vlan_push(ctx, protocol, retag & 0xffff);
}

/* Two tags are left to Linux. */
INLINE int tags_cannot_be_replaced(hook_context *ctx, u64 old, u64 tags)
{
	return (old | tags) >> 32 || packet_tagged_twice(ctx);
}

/* Gives a frame another tag than it has; 0 if that was possible. */
INLINE long replace_tags(hook_context *ctx, u64 old, u64 tags)
{
	if (old && bpf_skb_vlan_pop(ctx))
		return 1;
	return tags ? bpf_skb_vlan_push(ctx, (u16)tags, bpf_ntohs(tags >> 16)) : 0;
}

/* Says where the EtherType is; the tags have been replaced. */
INLINE u8 *packet_write_tags(u8 *data, u64 tags)
{
	return data;
}

#endif
