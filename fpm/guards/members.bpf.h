/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_MEMBERS_H
#define TNA_GUARD_MEMBERS_H

/*
 * Packet sockets for one protocol at a member of a bond or a team, or at a virtual function below a virtual
 * machine's card: Linux gives them what that device has received, whichever device the packet became in the
 * meantime (`orig_dev` of __netif_receive_skb_core()), unless a bridge has taken it.
 */

#include "guards/below.bpf.h"
#include "guards/capture.bpf.h"

#if HOOK_WITHIN_LINUX
APART u64 capture_of_lowest(u64 device);

/* Of all on which a device lies; they may lie on others themselves, or (`lowest`) not. */
INLINE u64 any_member_captured(u64 device, const int lowest)
{
	u64 list = below_list(device), node = KLOAD(u64, list);
	struct search found;

	SEARCH (found, BELOW_MAX) {
		u64 member = below_device(node);

		if (node == list)
			CONCLUDE(found, search_none());
		if (guard_capture_specific_at(member, KOBJ(struct net_device, member)) ||
		    (guard_lies_on_others(member) && (lowest || capture_of_lowest(member))))
			CONCLUDE(found, search_found(member));
		node = KLOAD(u64, node);
	}
	return !search_surely_none(found);
}

APART u64 capture_of_lowest(u64 device)
{
	return any_member_captured(device, 1);
}

APART u64 capture_of_members(u64 port)
{
	return any_member_captured(port, 0);
}
#else
#define capture_of_members(port) 0
#endif

/* Of a port by which packets come in, and by which they are not a bridge's; where anybody captures. */
INLINE u64 guard_capture_members(u64 port)
{
	if (!HOOK_WITHIN_LINUX || CONSTANT(BRIDGE) || !guard_lies_on_others(port))
		return 0;
	return capture_of_members(port);
}

#endif
