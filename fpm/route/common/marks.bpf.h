/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_COMMON_MARKS_H
#define TNA_ROUTE_COMMON_MARKS_H

/*
 * Packets' marks, which netfilter's rules put on them before they are routed, for routing rules to ask for
 * (`ip rule add fwmark`). No packet has one when it comes: which one it is to have, was learnt, and is noted
 * before its route is sought (connection/translated.bpf.h). With the permission it is proved that it was
 * learnt of this packet. A route that was found holds for the mark that it was looked for with; where there
 * are no routing rules, for any.
 */

#include "base/constant.bpf.h"
#include "base/translation.bpf.h"
#include "guards/peer.bpf.h"
#include "route/common/path.bpf.h"

#define FIB_BY_MARK (1u << 5) /* BPF_FIB_LOOKUP_MARK, since 6.10 */

/* struct bpf_fib_lookup, of kernels that can be asked by mark. */
struct bpf_fib_lookup___by_mark {
	u32 mark;
} __attribute__((preserve_access_index));

INLINE int marks_are_asked_for(void)
{
	return bpf_core_field_exists(struct bpf_fib_lookup___by_mark, mark);
}

INLINE const struct tna_translation *marks_noted(void)
{
	return CONSTANT(RULES) && unlikely(any_altered()) ? translation_note() : NULL;
}

/* The mark with which the packet is routed. */
INLINE u32 routed_mark(void)
{
	const struct tna_translation *note = marks_noted();

	return note ? note->routed_mark : 0;
}

/* For the kernel's own lookup. */
INLINE u32 lookup_by_mark(struct bpf_fib_lookup *lookup, u32 mark)
{
	if (!mark)
		return 0;
	__builtin_memcpy(lookup->smac, &mark, sizeof(mark)); /* it lies there */
	return FIB_BY_MARK;
}

/* Whether packets' marks may be seen by whoever receives them behind a port: where the other end of a veth is
 * in the same namespace. Within Linux, they leave with them. */
INLINE u64 port_keeps_marks(u64 port)
{
	return !HOOK_WITHIN_LINUX && device_keeps_marks(port);
}

/* The packet's mark is not the one that a route was looked for with (`asked`: rules may ask for it), or
 * matters elsewhere: for its source, by the device that it comes by (of IPv6, 0), or where it leaves. */
APART u64 route_marks_matter(const struct tna_route *route, u64 asked, u64 arrival)
{
	const struct tna_translation *note = marks_noted();

	if (!route || !note)
		return 0;
	u32 mark = asked ? note->routed_mark : 0;
	u64 word = route->mark ^ mark;

	if (mark && arrival)
		COLLECT(word, inet_marks_sources(
				      KOBJ(struct net, CONSTANT(NET)),
				      KOBJ(struct in_device, inet_device(KOBJ(struct net_device, arrival)))));
	if (note->left_mark)
		COLLECT(word, port_keeps_marks(route->egress_dev));
	return word;
}

#endif
