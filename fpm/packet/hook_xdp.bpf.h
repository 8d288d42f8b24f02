/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_HOOK_XDP_H
#define TNA_PACKET_HOOK_XDP_H

/* XDP: the driver calls the program with a frame that is no socket buffer yet. */

#include "kernel/access.h"

typedef struct xdp_md hook_context;
typedef struct xdp_buff hook_buffer;

#define HOOK_SECTION "xdp.frags"
#define HOOK_TO_LINUX XDP_PASS
#define HOOK_SENT XDP_REDIRECT
#define HOOK_DROP XDP_DROP
#define HOOK_IS_NOT_SENT "!= 4"
_Static_assert(XDP_REDIRECT == 4, "the condition above");
#define HOOK_TAGS_BESIDE 0
#define HOOK_WITHIN_LINUX 0
#define HOOK_PORTS BPF_MAP_TYPE_DEVMAP

INLINE int hook_verdict(int verdict)
{
	return verdict;
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
	struct xdp_buff *xdp = buffer; /* CO-RE looks for the type by its own name */
	struct xdp_rxq_info *queue = KCAST(struct xdp_rxq_info, xdp->rxq);

	return KGET(u64, queue, dev);
}

INLINE u32 hook_ingress_ifindex(hook_context *ctx)
{
	return ctx->ingress_ifindex;
}

#define HOOK_UNFIT TNA_REASON_FRAGMENTED

/* A frame in several buffers, of which the program sees the first one. */
INLINE u32 hook_frame_unfit(hook_context *ctx, hook_buffer *buffer)
{
	struct xdp_buff *xdp = buffer;

	return xdp->flags & XDP_BUFF_HAS_FRAGS;
}

/* Since 5.18. */
INLINE u32 hook_frame_length(hook_context *ctx)
{
	return bpf_xdp_get_buff_len(ctx);
}

/* One that is not unfit has all its bytes there. */
INLINE u32 hook_bytes(hook_context *ctx, const u8 *data, const u8 *end)
{
	return end - data;
}

INLINE u32 hook_is_several(hook_context *ctx)
{
	return 0;
}

INLINE u32 hook_is_nested(hook_buffer *buffer)
{
	return 0;
}

/* What the driver knows of it is not told. */
INLINE u32 hook_checksum_known(hook_buffer *buffer)
{
	return 0;
}

/* Of those that are, nothing leaves: guards/sender.bpf.h. */
INLINE u32 hook_checksum_unfinished(hook_buffer *buffer)
{
	return 0;
}

/* That of a local sender is guards/sender.bpf.h. */
INLINE u64 hook_has_past(hook_buffer *buffer)
{
	return 0;
}

INLINE u64 hook_routed_by_past(hook_buffer *buffer, u64 marks_matter)
{
	return 0;
}

/* Receive packet steering, of the queue that the frame came in by. */
INLINE u64 hook_changes_cpu(hook_buffer *buffer)
{
	if (!bpf_core_field_exists(struct netdev_rx_queue, rps_map))
		return 0;
	struct xdp_buff *xdp = buffer; /* as above */
	struct xdp_rxq_info *info = KCAST(struct xdp_rxq_info, xdp->rxq);
	u64 queues = KLOAD(u64, KADDR(struct net_device, KGET(u64, info, dev), _rx));
	u64 queue = queues + KGET(u32, info, queue_index) * (u64)bpf_core_type_size(struct netdev_rx_queue);

	return KLOAD(u64, KADDR(struct netdev_rx_queue, queue, rps_map)) |
	       KLOAD(u64, KADDR(struct netdev_rx_queue, queue, rps_flow_table));
}

/* The kernel's own structure is yet to be made of it. */
INLINE int hook_becomes_routed(hook_context *ctx, u64 net, u32 version)
{
	return 1;
}

/* Nobody would see it. */
INLINE void hook_mark(hook_context *ctx, u32 mark)
{
}

/* Queues are chosen by the CPU. */
INLINE void hook_passes_above(hook_context *ctx)
{
}

/* Linux has not looked at it yet. */
INLINE u32 hook_frame_differs(hook_context *ctx, hook_buffer *buffer)
{
	return 0;
}

/* It came in by this device. */
INLINE u32 hook_for_another(hook_context *ctx)
{
	return 0;
}

INLINE u32 hook_hidden_tag(hook_context *ctx)
{
	return 0;
}

INLINE u32 hook_tag_beside(hook_context *ctx)
{
	return 0;
}

/* Takes bytes off the frame's front, or (negative) adds some; 0 if that was possible. */
INLINE long hook_move_head(hook_context *ctx, int bytes)
{
	return bpf_xdp_adjust_head(ctx, bytes);
}

INLINE long hook_cut_tail(hook_context *ctx, u32 bytes)
{
	return bpf_xdp_adjust_tail(ctx, -(int)bytes);
}

INLINE int hook_send(void *ports, u32 slot, const u64 *device, u64 net)
{
	return bpf_redirect_map(ports, slot, XDP_PASS);
}

/* ndo_xdp_xmit() is there and has somebody to take the frame (veth: its peer's NAPI runs). */
INLINE u64 hook_cannot_send(struct net_device *dev)
{
	return ~KGET(u64, dev, xdp_features) & NETDEV_XDP_ACT_NDO_XMIT;
}

/* Not so where veth is a module that came after this program: then every frame may be a sender's. */
#define HOOK_SENDER_KNOWN bpf_core_type_exists(struct veth_xdp_buff)

/* The sender's socket buffer (struct veth_xdp_buff, since 6.3); only for ports whose driver is veth. */
INLINE u64 hook_sender_buffer(hook_buffer *buffer)
{
	struct veth_xdp_buff *veth = KCAST(struct veth_xdp_buff, buffer);

	if (!HOOK_SENDER_KNOWN)
		return 1;
	return KGET(u64, veth, skb);
}

/* No socket leaves with a frame that is redirected. */
INLINE u64 hook_sender_socket(hook_buffer *buffer)
{
	return 0;
}

INLINE u64 hook_sender_is_told(hook_buffer *buffer)
{
	return 0;
}

#endif
