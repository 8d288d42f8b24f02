/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_HOOK_LIST_H
#define TNA_GUARD_HOOK_LIST_H

/* A list of netfilter hooks: its memory never changes, another takes its place. */

#include "kernel/access.h"

/* include/uapi/linux/netfilter.h */
#define NF_INET_PRE_ROUTING 0
#define NF_INET_FORWARD 2
#define NF_INET_POST_ROUTING 4

/* nf_tables counts the changes of its rule sets where it can be seen. */
#define RULE_SET_GENERATION bpf_core_field_exists(struct net, nft.base_seq)

/* What a list would run besides one function; without that function, any list is one too many. */
INLINE u64 hook_list_foreign(u64 list, u64 function)
{
	if (!list)
		return 0;
	u64 word = KLOAD(u16, list) ^ 1; /* num_hook_entries */

	word |= KLOAD(u64, KADDR(struct nf_hook_entries, list, hooks)) ^ function;
	return word | !function;
}

#endif
