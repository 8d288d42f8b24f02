/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_EGRESS_H
#define TNA_GUARD_EGRESS_H

/* What a device must be for a frame to leave through it by redirect, as it would by dev_queue_xmit(). */

#include <linux/if_ether.h>

#include "packet/tag.bpf.h"

/*
 * The bridge disables a port that lost its carrier a moment later; but its backup port takes over at
 * once (br_forward()).
 */
INLINE u64 guard_egress_down(struct net_device *dev)
{
	return (KGET(u64, dev, state) & (LINK_STATE_START | LINK_STATE_NOCARRIER)) ^ LINK_STATE_START;
}

/*
 * is_skb_forwardable() and xdp_ok_fwd_dev() agree on this limit for Ethernet. No Ethernet device has
 * an MTU below ETH_MIN_MTU (ether_setup()), so that small frames always fit.
 */
INLINE u64 guard_egress_mtu(struct net_device *dev, u32 len)
{
	_Static_assert(ETH_MIN_MTU + ETH_HLEN == 82, "the limit below");
	RARELY((u64)len, "> 82", large);
	return 0;
large:
	return len > KGET(u32, dev, mtu) + ETH_HLEN + VLAN_HLEN;
}

/* ndo_xdp_xmit() is there and has somebody to take the frame (veth: its peer's NAPI runs). */
INLINE u64 guard_egress_redirect(struct net_device *dev)
{
	return ~KGET(u64, dev, xdp_features) & NETDEV_XDP_ACT_NDO_XMIT;
}

/*
 * A queueing discipline that may shape, classify or drop. "noqueue" alone has no enqueue function:
 * register_qdisc() gives one to all others that lack it, to the roots mq and mqprio, too.
 */
INLINE u64 guard_egress_qdisc(struct net_device *dev)
{
	struct Qdisc *qdisc = KOBJ(struct Qdisc, KGET(u64, dev, qdisc));

	return KGET(u64, qdisc, enqueue);
}

#define QDISC_ID(a, b, c, d, e, f, g, h)                                                                     \
	((u64)(a) | (u64)(b) << 8 | (u64)(c) << 16 | (u64)(d) << 24 | (u64)(e) << 32 | (u64)(f) << 40 |      \
	 (u64)(g) << 48 | (u64)(h) << 56)

/* The work-conserving disciplines that distributions use as default. */
INLINE int qdisc_is_plain(u64 qdisc)
{
	u64 ops = KLOAD(u64, KADDR(struct Qdisc, qdisc, ops));
	u64 id = KLOAD(u64, KADDR(struct Qdisc_ops, ops, id));

	return id == QDISC_ID('n', 'o', 'q', 'u', 'e', 'u', 'e', 0) ||
	       id == QDISC_ID('p', 'f', 'i', 'f', 'o', '_', 'f', 'a') ||
	       id == QDISC_ID('f', 'q', '_', 'c', 'o', 'd', 'e', 'l') ||
	       id == QDISC_ID('f', 'q', 0, 0, 0, 0, 0, 0);
}

#define QDISC_ID_MQ 0x716du
#define EGRESS_QUEUES_MAX 64

/* For devices with a queue: 0 if every discipline on it is a plain one. */
NOINLINE u64 guard_egress_qdisc_list(u64 address)
{
	struct net_device *dev = KOBJ(struct net_device, address);
	u64 root = KGET(u64, dev, qdisc);
	u64 queue = KGET(u64, dev, _tx);
	u32 queues = KGET(u32, dev, real_num_tx_queues);
	u64 id = KLOAD(u64, KADDR(struct Qdisc_ops, KLOAD(u64, KADDR(struct Qdisc, root, ops)), id));

	if (id != QDISC_ID_MQ)
		return !qdisc_is_plain(root);
	if (queues > EGRESS_QUEUES_MAX)
		return 1;
	for (u32 i = 0; i < EGRESS_QUEUES_MAX && i < queues; i++) {
		if (!qdisc_is_plain(KLOAD(u64, KADDR(struct netdev_queue, queue, qdisc))))
			return 1;
		queue += bpf_core_type_size(struct netdev_queue);
	}
	return 0;
}

#endif
