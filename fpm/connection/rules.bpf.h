/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_RULES_H
#define TNA_CONNECTION_RULES_H

/*
 * Whether the rules that packets would pass are still those that the controller has judged. nf_tables counts
 * its changes before the first of them takes effect. Functions of others come and go without that: then
 * another list takes the place of the one that was, whose memory never changes. A list whose place in memory
 * and whose number of functions are the same is another one only if functions have come and others gone
 * since, all unnoticed; those of nf_tables and of connection tracking do not, for they come and go by rules.
 */

#include "connection/segment.bpf.h"
#include "guards/hook_list.bpf.h"
#include "kernel/loop.bpf.h"

/* Of IPv4, and of IPv6; the pipelines of all hooks share them. */
struct tna_judged_rules judgement[2] SEC(".data.rules") = {};

INLINE u64 rules_lists(u64 net, const int version)
{
	return version == 6 ? net + bpf_core_field_offset(struct net, nf.hooks_ipv6)
			    : net + bpf_core_field_offset(struct net, nf.hooks_ipv4);
}

/* NF_BR_* are numbered like NF_INET_*. */
INLINE u64 bridge_rules_lists(u64 net)
{
	return net + bpf_core_field_offset(struct net, nf.hooks_bridge);
}

/* The list of functions at a place; 0: there are none. */
INLINE u64 rules_list(u64 lists, u32 place)
{
	const u32 hook = place == 0   ? NF_INET_PRE_ROUTING
			 : place == 1 ? NF_INET_FORWARD
				      : NF_INET_POST_ROUTING;

	return KLOAD(u64, lists + 8 * hook);
}

/* The generation, if it is that of the rules that were judged; else 0. */
INLINE u32 rules_generation(u64 net, const volatile struct tna_judged_rules *judged)
{
	if (!RULE_SET_GENERATION)
		return 0;
	u32 generation = KLOAD(u32, KADDR(struct net, net, nft.base_seq));

	return generation == judged->generation ? generation : 0;
}

/* nf_conntrack_tcp_be_liberal */
INLINE u32 tracking_liberal(u64 net)
{
	return KLOAD(u8, KADDR(struct net, net, ct.nf_ct_proto.tcp.tcp_be_liberal));
}

/* They treat all packets in the middle of a flow alike. */
INLINE u32 rules_steady(const volatile struct tna_judged_rules *judged, u32 protocol)
{
	return judged->steady & (protocol == PROTOCOL_TCP ? TNA_STEADY_TCP : TNA_STEADY_UDP);
}

/* They do so with some of them: connection tracking sees these, or does not. */
INLINE u32 rules_steady_for_some(const volatile struct tna_judged_rules *judged, u32 protocol)
{
	return judged->steady &
	       (protocol == PROTOCOL_TCP ? TNA_STEADY_TCP | TNA_EXEMPT_TCP : TNA_STEADY_UDP | TNA_EXEMPT_UDP);
}

#define INVALID_KNOWN (TNA_INVALID_DROPPED | TNA_INVALID_PASSED)

/* Of TCP, it is known as well what becomes of packets that are called invalid, if any are. */
INLINE u32 rules_certain(u64 net, u32 invalid, u32 protocol)
{
	return protocol != PROTOCOL_TCP || invalid & INVALID_KNOWN || tracking_liberal(net);
}

/* Moves after each change of routes, rules for routing, addresses and links (rt_cache_flush()). Of IPv6 there
 * is none that moves when a route goes, so that rules which look at routes are not steady (0). */
INLINE u32 routes_generation(u64 net, const int version)
{
	return version == 6 ? 0 : KLOAD(u32, KADDR(struct net, net, ipv4.rt_genid.counter));
}

/* Whether there are or were routing rules, which may ask for packets' marks. */
INLINE u32 routes_ask_for_marks(u64 net, const int version)
{
	if (version != 6)
		return KLOAD(u8, KADDR(struct net, net, ipv4.fib_has_custom_rules));
	return bpf_core_field_exists(struct net, ipv6.fib6_has_custom_rules)
		       ? KLOAD(u8, KADDR(struct net, net, ipv6.fib6_has_custom_rules))
		       : 0;
}

/* Packets of TCP may be routed by marks that rules have put on them. */
INLINE u32 may_be_routed_by_mark(u64 net, const volatile struct tna_judged_rules *judged, const int version)
{
	return judged->steady & TNA_MARKED_EARLY && routes_ask_for_marks(net, version);
}

INLINE volatile struct tna_judged_rules *judged_rules(const int version)
{
	return &judgement[version == 6];
}

/* The functions are not those that were judged. */
INLINE u64 rules_differ(u64 net, const volatile struct tna_judged_rules *judged, const int version)
{
	u64 lists = rules_lists(net, version), word = 0;

	EACH (place, TNA_RULE_HOOKS) {
		u64 list = rules_list(lists, place);

		word |= list ^ judged->lists[place];
		word |= KLOAD(u16, list) ^ judged->functions[place]; /* num_hook_entries; of no list, 0 */
	}
	return word;
}

/* They are those that were judged, whether or not they are steady. */
INLINE int rules_are_known(u64 net, const volatile struct tna_judged_rules *judged, const int version)
{
	u32 known = judged->known;

	return known && RULE_SET_GENERATION && KLOAD(u32, KADDR(struct net, net, nft.base_seq)) == known &&
	       !rules_differ(net, judged, version);
}

#endif
