/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_HOOK_TCX_H
#define TNA_PACKET_HOOK_TCX_H

/*
 * tcx at ingress (since 6.6): Linux calls the program with a socket buffer, after those who capture and
 * before everything else. What a sender has left to the hardware stays with the buffer: segments that are
 * still to be cut, checksums that are still to be written, marks, the tag.
 */

#include <linux/if_ether.h>
#include <linux/if_packet.h>
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

/* bpf_redirect() ends in dev_queue_xmit(), as Linux's own forwarding does: captures, filters and programs of
 * traffic control, and queues are met there. Netfilter's hook at egress is not: such frames are marked to
 * skip it (nf_skip_egress(), called before any program at ingress). */
#define HOOK_WITHIN_LINUX 1
#define HOOK_PORTS BPF_MAP_TYPE_ARRAY

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

#define HOOK_UNFIT TNA_REASON_CHECKSUM

INLINE struct skb_shared_info *hook_shared(struct sk_buff *skb)
{
	return KOBJ(struct skb_shared_info, KGET(u64, skb, head) + KGET(u32, skb, end));
}

/*
 * A checksum over all of the frame, which Linux forgets when it forwards (skb_forward_csum()). What a switch
 * chip has forwarded already; and what a card has put together from several frames (LRO), which Linux does
 * not forward (skb_warn_if_lro()). What a tunnel or a card has noted in the place of a route, which a router
 * takes off. An unfinished checksum behind a tag that is not beside the frame: how many there are, the bridge
 * asks (br_dev_queue_push_xmit()). That the buffer is a clone does not matter: the kernel makes a copy before
 * it runs a program that writes (bpf_unclone_prologue()).
 */
INLINE u32 hook_frame_unfit(hook_context *ctx, hook_buffer *buffer)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);
	u32 unfit = BPF_CORE_READ_BITFIELD(skb, ip_summed) == CHECKSUM_COMPLETE;

	if (bpf_core_field_exists(struct sk_buff, offload_fwd_mark)) {
		unfit |= BPF_CORE_READ_BITFIELD(skb, offload_fwd_mark);
		unfit |= BPF_CORE_READ_BITFIELD(skb, offload_l3_fwd_mark);
	}
	if (BPF_CORE_READ_BITFIELD(skb, ip_summed) == CHECKSUM_PARTIAL)
		unfit |= ctx->protocol == __builtin_bswap16(ETH_P_8021Q) ||
			 ctx->protocol == __builtin_bswap16(ETH_P_8021AD);
	if (ctx->gso_size)
		unfit |= !KGET(u32, hook_shared(skb), gso_type);
	return unfit | !!KGET(u64, skb, _skb_refdst);
}

/*
 * What Linux has found in the Ethernet header before, and goes by from now on: the type, whether the frame is
 * for many, and how long that header is. A custom module, or a program in front, may have changed the bytes
 * alone, or may have put something in front of them. Types below 0x600 are lengths, and have other numbers
 * (eth_type_trans()).
 */
INLINE u32 hook_frame_differs(hook_context *ctx, hook_buffer *buffer)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	if (data + ETH_HLEN > end)
		return 1;
	u32 type = __builtin_bswap16(*(u16 *)(data + 2 * ETH_ALEN));
	u32 noted = __builtin_bswap16(ctx->protocol), kind = ctx->pkt_type;
	u32 length = KGET(u16, skb, mac_len);
	/* PACKET_BROADCAST and PACKET_MULTICAST are 1 and 2 of 0 to 3 */
	u32 different = (kind ^ kind >> 1 ^ *data) & 1;

	/* nobody has measured it where a frame is only tried */
	different |= length && length ^ ETH_HLEN;
	if (unlikely(type ^ noted))
		different |= type >= ETH_P_802_3_MIN || noted >= ETH_P_802_3_MIN;
	return different;
}

/* Not the host's, by the address of the device that the frame really came in by: a member of a bond may have
 * one of its own. */
INLINE u32 hook_for_another(hook_context *ctx)
{
	return ctx->pkt_type ^ PACKET_HOST;
}

INLINE u32 hook_hidden_tag(hook_context *ctx)
{
	return ctx->vlan_present ? ctx->vlan_proto | (u32)__builtin_bswap16(ctx->vlan_tci) << 16 : 0;
}

/* Both are 0 where there is none. */
INLINE u32 hook_tag_beside(hook_context *ctx)
{
	return ctx->vlan_tci | ctx->vlan_proto << 16;
}

INLINE u32 hook_frame_length(hook_context *ctx)
{
	return ctx->len + (ctx->vlan_present ? 4 : 0);
}

/* The headers are there; of the rest it does not matter where it lies. */
INLINE u32 hook_bytes(hook_context *ctx, const u8 *data, const u8 *end)
{
	return ctx->len;
}

/* GSO. */
INLINE u32 hook_is_several(hook_context *ctx)
{
	return ctx->gso_size;
}

INLINE u32 hook_is_nested(hook_buffer *buffer)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);

	return BPF_CORE_READ_BITFIELD(skb, encapsulation);
}

/* nf_ip_checksum(): of those that are unfinished, or that somebody has looked at, netfilter asks no more. */
INLINE u32 hook_checksum_known(hook_buffer *buffer)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);
	u32 summed = BPF_CORE_READ_BITFIELD(skb, ip_summed);

	return summed == CHECKSUM_PARTIAL || summed == CHECKSUM_UNNECESSARY;
}

/* The checksum of TCP or UDP is of the addresses and the length alone yet, and not the other way round. */
INLINE u32 hook_checksum_unfinished(hook_buffer *buffer)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);

	return BPF_CORE_READ_BITFIELD(skb, ip_summed) == CHECKSUM_PARTIAL;
}

/* A mark, a connection, notes of others, or that it is to be traced: not of what has come from another
 * namespace (skb_scrub_packet()). */
INLINE u64 hook_has_past(hook_buffer *buffer)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);
	u64 word = KGET(u32, skb, mark);

	if (bpf_core_field_exists(struct sk_buff, _nfct))
		COLLECT(word, KGET(u64, skb, _nfct));
	if (bpf_core_field_exists(struct sk_buff, active_extensions))
		COLLECT(word, KGET(u8, skb, active_extensions));
	if (bpf_core_field_exists(struct sk_buff, nf_trace))
		COLLECT(word, BPF_CORE_READ_BITFIELD(skb, nf_trace));
	return word;
}

/* What matters to how it is routed: a mark, where rules ask for marks, and notes of others (that it was
 * encrypted). */
INLINE u64 hook_routed_by_past(hook_buffer *buffer, u64 marks_matter)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);
	u64 word = marks_matter ? KGET(u32, skb, mark) : 0;

	if (bpf_core_field_exists(struct sk_buff, active_extensions))
		COLLECT(word, KGET(u8, skb, active_extensions));
	return word;
}

INLINE u64 hook_changes_cpu(hook_buffer *buffer)
{
	return 0;
}

/* The sender's, if it is in this kernel: neither veth nor a bridge takes it off, a router does
 * (ip_rcv_core()). */
INLINE u64 hook_sender_socket(hook_buffer *buffer)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);

	return KGET(u64, skb, sk);
}

#define SHARED_ZEROCOPY 1u /* SKBFL_ZEROCOPY_ENABLE */

/* The socket is told by each device that still has it (skb_tstamp_tx()); or whether its memory was copied,
 * which a router does (skb_orphan_frags_rx()); or it is asked what is to be sent (TLS). */
INLINE u64 hook_sender_is_told(hook_buffer *buffer)
{
	struct sk_buff *skb = KCAST(struct sk_buff, buffer);
	struct skb_shared_info *shared = hook_shared(skb);
	u64 word = KGET(u8, shared, tx_flags);

	if (bpf_core_field_exists(struct sock, sk_validate_xmit_skb))
		word |= KLOAD(u64, KADDR(struct sock, KGET(u64, skb, sk), sk_validate_xmit_skb));
	return word | (KGET(u8, shared, flags) & SHARED_ZEROCOPY);
}

/* Priorities by the upper bits of a type of service (ip_tos2prio), four bits each. */
#define PRIORITIES 0x4620u

/* The frame is the host's, even if a bridge has taken it for another one's (br_pass_frame_up()); and IPv4
 * says how urgent it is (ip_forward()). False if that could not be noted. */
INLINE int hook_becomes_routed(hook_context *ctx, u64 net, u32 version)
{
	if (ctx->pkt_type != PACKET_HOST && bpf_skb_change_type(ctx, PACKET_HOST))
		return 0;
	if (version == 4 && KGET(u8, KOBJ(struct net, net), ipv4.sysctl_ip_fwd_update_priority)) {
		u8 *data = hook_data(ctx);

		if (data + ETH_HLEN + 2 > hook_data_end(ctx))
			return 0;
		ctx->priority = PRIORITIES >> (data[ETH_HLEN + 1] >> 1 & 0xc) & 0xf;
	}
	return 1;
}

INLINE void hook_mark(hook_context *ctx, u32 mark)
{
	ctx->mark = mark;
}

/* On its way out, it passes another device first, of one queue (netdev_core_pick_tx()): who chooses by the
 * queue of its arrival later (bond_slave_override()) finds none. */
INLINE void hook_passes_above(hook_context *ctx)
{
	ctx->queue_mapping = 0;
}

INLINE long hook_cut_tail(hook_context *ctx, u32 bytes)
{
	return bpf_skb_change_tail(ctx, ctx->len - bytes, 0);
}

/* No slot empties itself here, and the kernel looks for the index: it must still be that of the device that
 * the frame is for, and in this namespace. */
INLINE int hook_send(void *ports, u32 slot, const u64 *device, u64 net)
{
	const struct bpf_devmap_val *port = bpf_map_lookup_elem(ports, &slot);
	struct net_device *egress = KOBJ(struct net_device, *device);

	if (!port || (KGET(u32, egress, ifindex) ^ port->ifindex) | (KGET(u64, egress, nd_net.net) ^ net))
		return HOOK_TO_LINUX;
	return bpf_redirect(port->ifindex, 0) == TC_ACT_REDIRECT ? HOOK_SENT : HOOK_TO_LINUX;
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
