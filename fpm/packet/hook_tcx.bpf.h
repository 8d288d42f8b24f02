/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_HOOK_TCX_H
#define TNA_PACKET_HOOK_TCX_H

/*
 * tcx at ingress (since 6.6): Linux calls the program with a socket buffer. The pipeline is compiled for this
 * hook, and nothing loads it yet. Two things are missing: the guards take a tcx program for an objection,
 * even if it is this one, so that all frames would be left to Linux; and frames that were merged (GRO) are
 * left to Linux, which would have to be compared with MTUs by the size of their segments.
 */

#include <linux/pkt_cls.h>

#include "kernel/access.h"

typedef struct __sk_buff hook_context;
typedef struct sk_buff hook_buffer;

/* libbpf knows programs of tcx under the name of tc at least. Within the pipeline verdicts are small numbers,
 * which that of the kernel for going on (-1) is not. */
#define HOOK_SECTION "tc"
#define HOOK_TO_LINUX TC_ACT_OK
#define HOOK_SENT TC_ACT_REDIRECT
#define HOOK_DROP TC_ACT_SHOT
#define HOOK_IS_NOT_SENT "!= 7"
_Static_assert(TC_ACT_REDIRECT == 7, "the condition above");

/* Linux takes the outer tag out of the frame first (skb_vlan_untag()). */
#define HOOK_TAGS_BESIDE 1

/* Left to Linux are frames with all that is to come, the programs behind this one included. */
INLINE int hook_verdict(int verdict)
{
	return verdict == HOOK_TO_LINUX ? TC_ACT_UNSPEC : verdict;
}

INLINE u8 *hook_data(hook_context *ctx)
{
	return (u8 *)(long)ctx->data;
}

INLINE u8 *hook_data_end(hook_context *ctx)
{
	return (u8 *)(long)ctx->data_end;
}

INLINE hook_buffer *hook_kernel_buffer(hook_context *ctx)
{
	return bpf_cast_to_kern_ctx(ctx);
}

INLINE u64 hook_ingress_device(hook_buffer *buffer)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);

	return KGET(u64, skb, dev);
}

INLINE u32 hook_ingress_ifindex(hook_context *ctx)
{
	return ctx->ifindex;
}

/*
 * Bytes that the program does not reach unless they are pulled, a frame that is several, or a checksum over
 * all of it, which no longer holds when the frame is changed. That the buffer is a clone does not matter: the
 * kernel makes a copy before it runs a program that writes (bpf_unclone_prologue()).
 */
INLINE u32 hook_frame_unfit(hook_context *ctx, hook_buffer *buffer)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);

	return KGET(u32, skb, data_len) | ctx->gso_size |
	       (BPF_CORE_READ_BITFIELD(skb, ip_summed) == CHECKSUM_COMPLETE);
}

INLINE u32 hook_hidden_tag(hook_context *ctx)
{
	return ctx->vlan_present ? ctx->vlan_proto | (u32)__builtin_bswap16(ctx->vlan_tci) << 16 : 0;
}

INLINE u32 hook_frame_length(hook_context *ctx)
{
	return ctx->len + (ctx->vlan_present ? 4 : 0);
}

INLINE long hook_cut_tail(hook_context *ctx, u32 bytes)
{
	return bpf_skb_change_tail(ctx, ctx->len - bytes, 0);
}

INLINE int hook_send(void *ports, u32 slot)
{
	const struct bpf_devmap_val *port = bpf_map_lookup_elem(ports, &slot);

	return port && bpf_redirect(port->ifindex, 0) == TC_ACT_REDIRECT ? HOOK_SENT : HOOK_TO_LINUX;
}

/* Any device takes a socket buffer. */
INLINE u64 hook_cannot_send(struct net_device *dev)
{
	return 0;
}

/* What a sender has left to the hardware, and its marks, stay with the socket buffer on its way. */
#define HOOK_SENDER_KNOWN 1

INLINE u64 hook_sender_buffer(hook_buffer *buffer)
{
	return 0;
}

#endif
