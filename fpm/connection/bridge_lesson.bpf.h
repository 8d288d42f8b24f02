/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_BRIDGE_LESSON_H
#define TNA_CONNECTION_BRIDGE_LESSON_H

/*
 * Rules of bridges (family bridge): which packets have passed them, and whether they are still those that
 * the controller has judged. A lesson is put into the table as a whole, and never changed there; but its
 * memory may become another one's while it is read.
 */

#include <tna/bridge_rules.h>

#include "connection/lesson.bpf.h"
#include "connection/rules.bpf.h"

/* The pipelines of all hooks share it. */
struct tna_judged_bridge_rules bridge_judgement SEC(".data.bridge_rules") = {};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct tna_bridged_packet);
	__type(value, struct tna_bridge_lesson);
} bridge_lessons SEC(".maps");

INLINE volatile struct tna_judged_bridge_rules *judged_bridge_rules(void)
{
	return &bridge_judgement;
}

/* The generation, if it is that of the rules that were judged; else 0. */
INLINE u32 bridge_rules_generation(u64 net)
{
	if (!RULE_SET_GENERATION)
		return 0;
	u32 generation = KLOAD(u32, KADDR(struct net, net, nft.base_seq));

	return generation == judged_bridge_rules()->generation ? generation : 0;
}

/* The functions are not those that were judged. */
INLINE u64 bridge_rules_differ(u64 net)
{
	const volatile struct tna_judged_bridge_rules *judged = judged_bridge_rules();
	u64 lists = bridge_rules_lists(net), word = 0;

	EACH (place, TNA_RULE_HOOKS) {
		u64 list = rules_list(lists, place);

		word |= list ^ judged->lists[place];
		word |= KLOAD(u16, list) ^ judged->functions[place]; /* num_hook_entries; of no list, 0 */
	}
	return word;
}

/* They treat all packets in the middle of a flow alike. */
INLINE u32 bridge_rules_steady(u32 protocol)
{
	return judged_bridge_rules()->steady & (protocol == PROTOCOL_TCP ? TNA_STEADY_TCP : TNA_STEADY_UDP);
}

/* Whether br_netfilter calls IP's rules for packets of a version: those of bridges with its own priority are
 * passed over then at some places (br_nf_hook_thresh()). */
INLINE u32 bridge_rules_call(u64 brnf, u32 version)
{
	if (!brnf || !bpf_core_type_exists(struct brnf_net))
		return 0;
	u32 called = version == 6 ? KLOAD(u32, KADDR(struct brnf_net, brnf, call_ip6tables))
				  : KLOAD(u32, KADDR(struct brnf_net, brnf, call_iptables));

	return called ? TNA_CALLED_BY_SYSCTL : 0;
}

#endif
