/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_TC_H
#define TNA_GUARD_TC_H

/*
 * Traffic control at ingress and egress: clsact filters and tcx programs share one entry per device
 * (since 6.6). An entry without programs whose mini qdisc is unset runs nothing: an empty clsact is
 * no reason to be slow.
 */

#include "packet/hook.bpf.h"
#include "base/constant.bpf.h"

/*
 * Programs and filters that would come after this one, at a port where it is a tcx program itself: the second
 * program of the entry, and the mini qdisc. Those of an entry that this program has just left are none of
 * this frame. Where programs are run by hand there is no entry.
 */
INLINE u64 guard_tc_after_this(u64 entry)
{
	u64 next = KLOAD(u64, entry + bpf_core_type_size(struct bpf_mprog_fp));
	u64 bundle = KLOAD(u64, KADDR(struct bpf_mprog_entry, entry, parent));
	u64 tcx = bundle - bpf_core_field_offset(struct tcx_entry, bundle);

	return entry ? next | KLOAD(u64, KADDR(struct tcx_entry, tcx, miniq)) : 0;
}

/* Of a device that Linux receives the frame as. */
INLINE u64 guard_tc_ingress(struct net_device *dev)
{
	return KGET(u64, dev, tcx_ingress);
}

/* Anything but our own program, where that comes first of all, or has just gone. */
APART u64 guard_tc_but_ours(u64 entry)
{
	if (!entry)
		return 0;
	u64 first = KLOAD(u64, entry);
	u64 other = KLOAD(u64, KADDR(struct bpf_prog, first, tag)) ^ CONSTANT(TCX_ENTRY);

	return guard_tc_after_this(entry) | (first ? other : 0);
}

/* Of the port that it came in by. */
INLINE u64 guard_tc_port(struct net_device *port)
{
	u64 word = guard_tc_ingress(port);

	if (HOOK_WITHIN_LINUX)
		return guard_tc_after_this(word);
	WHEN_RARE(TCX_BEHIND) word = guard_tc_but_ours(word);
	return word;
}

/* Of a device that may be that port. */
INLINE u64 guard_tc_arrival(u64 device, u64 port)
{
	struct net_device *arrival = KOBJ(struct net_device, device);

	return device == port ? guard_tc_port(arrival) : guard_tc_ingress(arrival);
}

/*
 * tcx and netfilter at egress in one load where the two are neighbours: the upper half of a kernel
 * address is never 0, nor is the lower half of a tcx entry's, which lies within a larger object.
 */
INLINE u64 guard_egress_hooks(struct net_device *dev)
{
	if (likely(CONSTANT(PACKED)))
		return KSTRADDLE(struct net_device, dev, nf_hooks_egress, 4);
	return KGET(u64, dev, nf_hooks_egress) | KGET(u64, dev, tcx_egress);
}

INLINE u64 guard_tc_egress(struct net_device *dev)
{
	return KGET(u64, dev, tcx_egress);
}

/* Whether an entry would run anything; for the rare port that has one. */
APART u64 guard_tc_entry_busy(u64 entry)
{
	if (!entry)
		return 0;
	u64 busy = KLOAD(u64, entry); /* fp_items[0].prog */
	u64 bundle = KLOAD(u64, KADDR(struct bpf_mprog_entry, entry, parent));
	u64 tcx = bundle - bpf_core_field_offset(struct tcx_entry, bundle);

	return busy | KLOAD(u64, KADDR(struct tcx_entry, tcx, miniq));
}

/* The same of the port that a frame came in by, and of a device that may be that. */
INLINE u64 guard_tc_port_busy(struct net_device *port)
{
	u64 word = guard_tc_port(port);

	if (!HOOK_WITHIN_LINUX && !CONSTANT(TCX_BEHIND))
		word = guard_tc_entry_busy(word);
	return word;
}

INLINE u64 guard_tc_arrival_busy(u64 device, u64 port)
{
	struct net_device *arrival = KOBJ(struct net_device, device);

	return device == port ? guard_tc_port_busy(arrival) : guard_tc_entry_busy(guard_tc_ingress(arrival));
}

#endif
