/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_EGRESS_H
#define TNA_GUARD_EGRESS_H

/*
 * What a device must be for a frame to leave through it by redirect, as it would by dev_queue_xmit(); its
 * queueing discipline is guards/qdisc.bpf.h.
 */

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

/* Which sender's frames are how urgent there, by its control group (net_prio; skb_update_prio()). */
INLINE u64 device_knows_senders(struct net_device *dev)
{
	return bpf_core_field_exists(struct net_device, priomap) ? KGET(u64, dev, priomap) : 0;
}

/* Of a device on top of others: which of its queues is chosen, those below are told, where Linux itself sends
 * (hook_passes_above()). */
INLINE u64 guard_several_queues(struct net_device *dev)
{
	return HOOK_WITHIN_LINUX ? KGET(u32, dev, real_num_tx_queues) ^ 1 : 0;
}

INLINE u64 guard_egress_redirect(struct net_device *dev)
{
	return hook_cannot_send(dev);
}

#endif
