/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_BRNF_H
#define TNA_GUARD_BRNF_H

/* The settings that br_netfilter keeps for each namespace. */

#include "kernel/loop.bpf.h"

/* Each part of the kernel that keeps something for namespaces has one, of a number that never grows back:
 * some sixty usually, and more where modules are loaded again and again. Beyond, frames that br_netfilter
 * would see are Linux's. */
#define PERNET_MAX 128
#define KERNEL_SPACE (1ULL << 63)

/*
 * A struct brnf_net knows itself: its sysctl table's first entry points back into it. So does memory that
 * was one, of a module that is gone; only the namespace's own pointer tells which one is in use.
 */
INLINE int is_brnf(u64 candidate)
{
	if (candidate < KERNEL_SPACE || !bpf_core_type_exists(struct brnf_net))
		return 0;
	u64 header = KLOAD(u64, KADDR(struct brnf_net, candidate, ctl_hdr));

	if (header < KERNEL_SPACE)
		return 0;
	u64 table = KLOAD(u64, KADDR(struct ctl_table_header, header, ctl_table));

	return table >= KERNEL_SPACE && KLOAD(u64, KADDR(struct ctl_table, table, data)) ==
						KADDR(struct brnf_net, candidate, call_arptables);
}

/* br_netfilter's settings are one of the namespace's generic pointers; ids start behind the header. */
INLINE struct search find_brnf(u64 net)
{
	u64 generic = KLOAD(u64, KADDR(struct net, net, gen)), at = generic + 8 * 3;
	u64 end = generic + 8ULL * KLOAD(u32, KADDR(struct net_generic, generic, s.len));
	struct search search;

	SEARCH_SHORT (search, PERNET_MAX) {
		if (at >= end)
			CONCLUDE(search, search_none());
		u64 candidate = KLOAD(u64, at);

		if (is_brnf(candidate))
			CONCLUDE(search, search_found(candidate));
		at += 8;
	}
	return search;
}

#endif
