/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_CAPTURE_H
#define TNA_GUARD_CAPTURE_H

/*
 * Somebody captures: packet sockets for all protocols hang in the namespace's list (all devices,
 * since 6.15; before that in a global one) or in a device's list. Linux delivers to them in
 * __netif_receive_skb_core() and dev_queue_xmit_nit(), so all three lists must be empty.
 *
 * Nothing but packet sockets enters these lists, so a namespace without any packet socket needs no
 * look at them.
 */

#include "kernel/access.h"

INLINE u64 guard_capture_possible(struct net *net)
{
	return KGET(u64, net, packet.sklist.first);
}

INLINE u64 guard_capture_namespace(u64 address, struct net *net)
{
	/* The global list is out of reach; whoever is in it for this namespace has a packet socket here. */
	if (!bpf_core_field_exists(struct net, ptype_all))
		return guard_capture_possible(net);
	return KGET(u64, net, ptype_all.next) ^ KADDR(struct net, address, ptype_all);
}

INLINE u64 guard_capture_device(u64 address, struct net_device *dev)
{
	return KGET(u64, dev, ptype_all.next) ^ KADDR(struct net_device, address, ptype_all);
}

/*
 * Packet sockets for one protocol hang in lists of their own, of the namespace (where there is one) and
 * of a device; they see what a device receives, unless the bridge took it.
 */
INLINE u64 guard_capture_specific(u64 net_address, u64 address, struct net_device *dev)
{
	u64 word = KGET(u64, dev, ptype_specific.next) ^ KADDR(struct net_device, address, ptype_specific);

	if (bpf_core_field_exists(struct net, ptype_specific))
		word |= KLOAD(u64, KADDR(struct net, net_address, ptype_specific.next)) ^
			KADDR(struct net, net_address, ptype_specific);
	return word;
}

#endif
