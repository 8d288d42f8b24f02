/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_BRNF_H
#define TNA_GUARD_BRNF_H

/* The settings that br_netfilter keeps for each namespace. */

#include "kernel/access.h"

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
INLINE u64 find_brnf(u64 net)
{
	u64 generic = KLOAD(u64, KADDR(struct net, net, gen));
	u32 len = KLOAD(u32, KADDR(struct net_generic, generic, s.len));

	for (u32 id = 3; id < PERNET_MAX && id < len; id++) {
		u64 candidate = KLOAD(u64, generic + 8ULL * id);

		if (is_brnf(candidate))
			return candidate;
	}
	return 0;
}

#endif
