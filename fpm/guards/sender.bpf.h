/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_SENDER_H
#define TNA_GUARD_SENDER_H

/*
 * On a veth, a frame may still be the sender's socket buffer: with a checksum or a segmentation that
 * the hardware was to finish (a GSO buffer always has CHECKSUM_PARTIAL), or with its VLAN tag beside
 * it, or with marks on it. None of that survives a redirect. The buffer is NULL for frames that came by
 * redirect.
 */

#include "guards/below.bpf.h"
#include "guards/qdisc.bpf.h"
#include "packet/hook.bpf.h"

INLINE u64 guard_unfinished_checksum(u64 buffer)
{
	struct sk_buff *skb = KOBJ(struct sk_buff, buffer);

	return !HOOK_SENDER_KNOWN || BPF_CORE_READ_BITFIELD(skb, ip_summed) == CHECKSUM_PARTIAL;
}

INLINE u64 guard_hidden_tag(u64 buffer)
{
	struct sk_buff *skb = KOBJ(struct sk_buff, buffer);

	return KGET(u32, skb, vlan_all);
}

/*
 * What stays on a buffer for as long as it stays in a namespace (skb_scrub_packet()), where filters and
 * sockets behind the egress port see it: the sender's mark (SO_MARK), and that of SELinux. Frames from
 * another namespace have lost both. Priority, route, time of departure and extensions are taken off on any
 * veth, or when the frame is forwarded.
 */
INLINE u64 guard_sender_marks(u64 buffer)
{
	struct sk_buff *skb = KOBJ(struct sk_buff, buffer);

	if (!bpf_core_field_exists(struct sk_buff, secmark))
		return KGET(u32, skb, mark);
	return KGET(u32, skb, mark) | KGET(u32, skb, secmark);
}

/* A router takes the socket off, what is redirected keeps it: where it leaves, nothing is to look at it. Of
 * queues, guards/qdisc.bpf.h says whether they do. */
INLINE u64 guard_sender_taken_off(hook_buffer *buffer, struct net_device *egress)
{
	if (!hook_sender_socket(buffer))
		return 0;
	return hook_sender_is_told(buffer) | device_knows_senders(egress);
}

/* The same, with the queues of where it leaves. */
INLINE u64 guard_sender(hook_buffer *buffer, u64 egress_address)
{
	struct net_device *egress = KOBJ(struct net_device, egress_address);
	u64 socket = hook_sender_socket(buffer);

	if (!socket)
		return 0;
	return guard_sender_taken_off(buffer, egress) || guard_below(egress_address, socket) ||
	       (guard_egress_qdisc(egress) && guard_egress_qdisc_list(egress_address, socket));
}

#endif
