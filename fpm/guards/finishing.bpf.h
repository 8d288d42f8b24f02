/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_FINISHING_H
#define TNA_GUARD_FINISHING_H

/*
 * What a sender has left to the hardware, segments and checksums. The device that a frame leaves by is asked
 * by Linux whether it can do that. So are those on top of it, which a redirected frame does not pass: where
 * one says that it cannot, Linux cuts the segments and writes the checksums there (validate_xmit_skb()).
 */

#include "packet/hook.bpf.h"

#if HOOK_WITHIN_LINUX
/* include/linux/netdev_features.h */
#define FEATURE_HW_CSUM (1ULL << 3) /* of all protocols; others are left to Linux */
#define FEATURE_FRAGLIST (1ULL << 6)
#define FEATURE_SEGMENTS 16 /* from here on, in the order of SKB_GSO_* */

#define SEGMENTS_UNTRUSTED (1u << 1) /* SKB_GSO_DODGY */

#define SCTP_SUM 8 /* where it is in the header; those of TCP and UDP are elsewhere */

/* Segments: of a kind that the device cuts (skb_gso_ok()), and not too many for it (gso_features_check()).
 * From virtual machines they are only counted anew where a device does not trust its senders
 * (tcp_gso_segment()). */
INLINE u64 segments_needed(struct skb_shared_info *shared)
{
	u64 features = (u64)(KGET(u32, shared, gso_type) & ~SEGMENTS_UNTRUSTED) << FEATURE_SEGMENTS;

	return KGET(u64, shared, frag_list) ? features | FEATURE_FRAGLIST : features;
}

INLINE u64 segments_too_many(hook_context *ctx, struct skb_shared_info *shared, struct net_device *device)
{
	u64 most = ctx->protocol == bpf_htons(ETH_P_IPV6) ? KGET(u32, device, gso_max_size)
							  : KGET(u32, device, gso_ipv4_max_size);

	return (most - 1 - ctx->len | (u64)KGET(u16, device, gso_max_segs) - KGET(u16, shared, gso_segs)) >>
	       63;
}

/* Whether it would be finished at a device. That it may have other features for frames with tags is no
 * matter: bridges do not, and below others there is the one that the frame leaves by. */
INLINE u64 guard_finishes(hook_context *ctx, u64 address)
{
	hook_buffer *buffer = hook_kernel_buffer(ctx);
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);
	struct net_device *device = KOBJ(struct net_device, address);
	u64 needed = FEATURE_HW_CSUM, word;

	word = hook_is_nested(buffer); /* of packets in tunnels other features count */
	/* of SCTP another sum is meant, which bridges do not leave to their ports */
	word |= KGET(u16, skb, csum_offset) == SCTP_SUM;
	if (ctx->gso_size) {
		struct skb_shared_info *shared = hook_shared(skb);

		needed |= segments_needed(shared);
		word |= segments_too_many(ctx, shared, device);
	}
	return word | (needed & ~KGET(u64, device, features));
}

/* Whether there is anything to finish. */
INLINE u64 guard_unfinished(hook_context *ctx)
{
	return hook_is_several(ctx) | hook_checksum_unfinished(hook_kernel_buffer(ctx));
}
#else
#define guard_finishes(ctx, address) 0
#define guard_unfinished(ctx) 0
#endif

#endif
