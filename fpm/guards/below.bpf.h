/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_BELOW_H
#define TNA_GUARD_BELOW_H

/*
 * What lies below an egress port that is a face of other devices: the members of a bond or a team, the device
 * under a VLAN device, the virtual function of a virtual machine's card. Linux itself sends there what leaves
 * by it, and chooses among them. But not all that could be looked at on the way down is the same of a frame
 * that was redirected: that it was (guards/peer.bpf.h), and of a packet that Linux would have routed, or had
 * rules called for, its sender's socket, its route, its connection. So nothing may look: there are no
 * filters, programs or rules at egress down there, and plain queues only, and devices that have the packet's
 * route taken off before they get it. Others (tunnels) tell its sender by that what is too large for them.
 */

#include "guards/egress.bpf.h"
#include "guards/netdev_hook.bpf.h"
#include "guards/peer.bpf.h"
#include "guards/qdisc.bpf.h"
#include "guards/tc.bpf.h"

#define BELOW_MAX 16 /* members of one device */

/* The list of those on which a device lies. */
INLINE u64 below_list(u64 device)
{
	return KADDR(struct net_device, device, adj_list.lower);
}

/* Of one place in it. */
INLINE u64 below_device(u64 node)
{
	u64 entry = node - bpf_core_field_offset(struct netdev_adjacent, list);

	return KLOAD(u64, KADDR(struct netdev_adjacent, entry, dev));
}

INLINE u64 guard_lies_on_others(u64 device)
{
	if (!HOOK_WITHIN_LINUX)
		return 0;
	u64 list = below_list(device);

	return KLOAD(u64, list) ^ list;
}

/* Whether a device is given the route of a packet along with it (netif_keep_dst()). Of a bond, whether one of
 * its members is. */
INLINE u64 device_keeps_route(u64 device)
{
	return ~BPF_CORE_READ_BITFIELD(KOBJ(struct net_device, device), priv_flags) & IFF_XMIT_DST_RELEASE;
}

/* What deserves a closer look at the device that a routed packet leaves by. */
INLINE u64 guard_not_the_last(u64 device)
{
	return HOOK_WITHIN_LINUX ? guard_lies_on_others(device) | device_keeps_route(device) : 0;
}

/* Whether one of them would look. `socket`: the sender's, which is not to be seen; 0: it has none. */
INLINE u64 below_looks(u64 address, u64 socket)
{
	struct net_device *device = KOBJ(struct net_device, address);
	u64 word = guard_netdev_egress(device) | guard_tc_entry_busy(guard_tc_egress(device));

	word |= guard_peer_generic_xdp(address);
	if (socket)
		word |= device_knows_senders(device);
	if (guard_egress_qdisc(device))
		word |= guard_egress_qdisc_list(address, socket);
	return word;
}

#if HOOK_WITHIN_LINUX
APART u64 guard_lowest(u64 device, u64 socket);

/* Of all on which a device lies; they may lie on others themselves, or (`lowest`) not. */
INLINE u64 any_below_looks(u64 device, u64 socket, const int lowest)
{
	u64 list = below_list(device), node = KLOAD(u64, list);
	struct search found;

	SEARCH (found, BELOW_MAX) {
		u64 below = below_device(node);

		if (node == list)
			CONCLUDE(found, search_none());
		if (below_looks(below, socket) ||
		    (!guard_lies_on_others(below) ? device_keeps_route(below)
						  : lowest || guard_lowest(below, socket)))
			CONCLUDE(found, search_found(below));
		node = KLOAD(u64, node);
	}
	return !search_surely_none(found);
}

APART u64 guard_lowest(u64 device, u64 socket)
{
	return any_below_looks(device, socket, 1);
}

APART u64 guard_all_below(u64 device, u64 socket)
{
	return any_below_looks(device, socket, 0);
}
#else
#define guard_all_below(device, socket) 0
#endif

INLINE u64 guard_below(u64 device, u64 socket)
{
	return guard_lies_on_others(device) ? guard_all_below(device, socket) : 0;
}

/* The same of a packet that is routed. */
INLINE u64 guard_way_out(u64 device, u64 socket)
{
	if (!HOOK_WITHIN_LINUX)
		return 0;
	return guard_lies_on_others(device) ? guard_all_below(device, socket) : device_keeps_route(device);
}

#endif
