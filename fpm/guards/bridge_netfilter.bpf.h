/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_BRIDGE_NETFILTER_H
#define TNA_GUARD_BRIDGE_NETFILTER_H

/*
 * Netfilter on bridged frames. The hook lists at pre-routing, forward and post-routing are harmless
 * while they are absent, or hold br_netfilter's hook alone and that is told to call nobody.
 *
 * Looking into the lists for each frame is expensive, so the lists found harmless are remembered by
 * address, together with the rule set generation; on a mismatch the frame's own CPU looks again. A
 * list's memory can be reused only after another list has taken its place, which is seen then: by
 * the content check if the address differs, by the generation if nftables did it. Where the generation
 * is out of reach (older kernels), no list is remembered.
 */

#include "guards/brnf.bpf.h"
#include "guards/hook_list.bpf.h"
#include "base/state.bpf.h"

#define NF_BR_PRE_ROUTING 0
#define NF_BR_LOCAL_IN 1
#define NF_BR_FORWARD 2
#define NF_BR_LOCAL_OUT 3
#define NF_BR_POST_ROUTING 4

#define HOOKS_UNKNOWN (~0ULL) /* nothing lies there */

/*
 * Post-routing is looked at when one of the others changes: what the kernel has to register there alone
 * comes with a new rule set generation (nf_tables); ebtables' nat table has pre-routing, too. Without the
 * generation, no list is to be there.
 */
INLINE u64 guard_bridge_hooks(struct net *net, const volatile struct tna_namespace *home)
{
	u64 word = KGET(u64, net, nf.hooks_bridge[NF_BR_PRE_ROUTING]) ^ home->bridge_hooks[0];

	COLLECT(word, KGET(u64, net, nf.hooks_bridge[NF_BR_FORWARD]) ^ home->bridge_hooks[1]);
	if (likely(RULE_SET_GENERATION))
		COLLECT(word, KGET(u32, net, nft.base_seq) ^ home->nft_base_seq);
	else
		COLLECT(word, KGET(u64, net, nf.hooks_bridge[NF_BR_POST_ROUTING]));
	return word;
}

/* One of its lists, and what br_netfilter has there. */
APART u64 bridge_hooks_foreign(u64 list, u64 own)
{
	return hook_list_foreign(list, own);
}

/* Looks into the lists; remembers them when they are harmless. 0 = harmless. */
APART u64 bridge_hooks_revalidate(struct tna_namespace *home)
{
	if (!home)
		return 1;
	u64 net = CONSTANT(NET), brnf = CONSTANT(BRNF),
	    lists = net + bpf_core_field_offset(struct net, nf.hooks_bridge);
	u32 generation = 0;

	if (RULE_SET_GENERATION)
		generation = KLOAD(u32, KADDR(struct net, net, nft.base_seq));
	u64 pre = KLOAD(u64, lists + 8 * NF_BR_PRE_ROUTING);
	u64 forward = KLOAD(u64, lists + 8 * NF_BR_FORWARD);
	u64 post = KLOAD(u64, lists + 8 * NF_BR_POST_ROUTING);
	u64 foreign = bridge_hooks_foreign(pre, CONSTANT(HOOK_PRE)) |
		      bridge_hooks_foreign(forward, CONSTANT(HOOK_FORWARD)) |
		      bridge_hooks_foreign(post, CONSTANT(HOOK_POST));

	/* br_netfilter is there, but its settings are not known, or not these any more: every frame may be
	 * its own. */
	if (foreign || ((pre | forward | post) && (!brnf || found_or_linux(find_brnf(net)) != brnf))) {
		if (RULE_SET_GENERATION) /* what was harmless may be others' by and by */
			home->bridge_hooks[0] = home->bridge_hooks[1] = HOOKS_UNKNOWN;
		return 1;
	}
	if (!RULE_SET_GENERATION)
		return 0;
	home->bridge_hooks[0] = pre;
	home->bridge_hooks[1] = forward;
	home->nft_base_seq = generation;
	return 0;
}

/*
 * What frames for the host and from it meet besides: what runs at local-in besides br_netfilter, which looks
 * at what connection tracking has seen at pre-routing, and at local-out, where it has nothing.
 */
INLINE u64 guard_bridge_host_hooks(struct net *net)
{
	return KGET(u64, net, nf.hooks_bridge[NF_BR_LOCAL_OUT]) |
	       hook_list_foreign(KGET(u64, net, nf.hooks_bridge[NF_BR_LOCAL_IN]), CONSTANT(HOOK_LOCAL_IN));
}

/*
 * br_netfilter hands frames to iptables if its sysctl or the bridge's own option says so; the option
 * is tested with the other bridge options.
 */
INLINE u64 guard_br_netfilter(u64 settings)
{
	struct brnf_net *brnf = KOBJ(struct brnf_net, settings);

	/* a module's type, unknown when the module came after this program */
	if (!bpf_core_type_exists(struct brnf_net))
		return 1;
	if (likely(CONSTANT(PACKED)))
		return KGET(u64, brnf, call_iptables);
	return KGET(u32, brnf, call_iptables) | KGET(u32, brnf, call_ip6tables);
}

#endif
