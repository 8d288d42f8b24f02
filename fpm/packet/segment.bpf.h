/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_SEGMENT_H
#define TNA_PACKET_SEGMENT_H

/* What is several packets yet, each with the same headers, which are cut apart where they leave (GSO). */

#include "packet/tag.bpf.h"

#define PROTOCOL_TCP 6
#define PROTOCOL_UDP 17
#define SEGMENT_UNKNOWN 0x7fffffffu /* larger than any MTU */

/* Of the frame's transport header, which begins at `at` behind the Ethernet header; 0: not known. */
INLINE u32 transport_length(hook_context *ctx, u32 at, u32 protocol)
{
	u8 *header = hook_data(ctx) + ETH_HLEN + at, *end = hook_data_end(ctx);

	if (protocol == PROTOCOL_UDP)
		return 8;
	if (protocol != PROTOCOL_TCP || header + 20 > end)
		return 0;
	return header[12] >> 4 << 2;
}

/*
 * What Linux compares with an MTU where it routes: the packet's length, or that of the segment that it is
 * several of (skb_gso_validate_network_len()). Not of what is a packet within a packet.
 */
INLINE u32 packet_segment(hook_context *ctx, u32 total, u32 header, u32 protocol)
{
	u32 payload = hook_is_several(ctx);

	if (!payload)
		return total;
	u32 transport = hook_is_nested(hook_kernel_buffer(ctx)) ? 0 : transport_length(ctx, header, protocol);

	return transport ? header + transport + payload : SEGMENT_UNKNOWN;
}

/* Several packets at once that are followed by bytes which belong to none of them. */
INLINE u64 several_cut(hook_context *ctx, u64 frame_len, u64 total)
{
	return hook_is_several(ctx) ? frame_len - total - ETH_HLEN : 0;
}

#endif
