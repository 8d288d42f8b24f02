/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_BRNF_H
#define TNA_GUARD_BRNF_H

/* The settings that br_netfilter keeps for each namespace. */

#include "kernel/access.h"

#define KERNEL_SPACE (1ULL << 63)

/*
 * A struct brnf_net knows itself: its sysctl table's first entry points back into it. Memory that was one, of
 * a module that is gone, does not.
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

#endif
