/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_COMMON_SELF_CHECK_H
#define TNA_ROUTE_COMMON_SELF_CHECK_H

/* What a search of our own and the kernel's own lookup answer, compared; for either protocol:
 * base/self_check.bpf.h. */

#include "base/self_check.bpf.h"
#include "packet/ipv6.bpf.h"
#include "route/common/path.bpf.h"

INLINE int answers_differ(const struct tna_answer *one, const struct tna_answer *other)
{
	return one->ifindex != other->ifindex || one->gateway[0] != other->gateway[0] ||
	       one->gateway[1] != other->gateway[1];
}

/* What the kernel's lookup answers; without an ifindex: it does not forward. 0: it cannot tell. */
INLINE int kernel_told(long answer)
{
	return answer >= 0 && answer != BPF_FIB_LKUP_RET_FWD_DISABLED;
}

INLINE void route_describe(const struct tna_answer *ours, const struct tna_answer *kernel, u32 family,
			   u32 ifindex, struct ipv6_address from, struct ipv6_address to)
{
	struct tna_disagreement *found = self_check_pause(TNA_CHECKED_ROUTE);

	if (!found)
		return;
	found->family = family;
	found->arrival = ifindex;
	found->reason = REASON_NONE;
	found->from[0] = from.prefix;
	found->from[1] = from.rest;
	found->to[0] = to.prefix;
	found->to[1] = to.rest;
	found->ours = *ours;
	found->kernel = *kernel;
}

#endif
