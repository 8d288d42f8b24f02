/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V4_POLICY_H
#define TNA_ROUTE_V4_POLICY_H

/* Routing rules of IPv4 (common/policy.bpf.h; net/ipv4/fib_rules.c). */

#include "route/common/policy.bpf.h"
#include "route/v4/fib.bpf.h"

INLINE int policy_custom(struct net *net)
{
	return KGET(u8, net, ipv4.fib_has_custom_rules);
}

/* Whether rules are known here, and none of them asks for protocols and ports. */
INLINE int policy_plain(struct net *net)
{
	return bpf_core_type_exists(struct fib4_rule) &&
	       bpf_core_field_exists(struct net, ipv4.fib_rules_require_fldissect) &&
	       !KGET(u32, net, ipv4.fib_rules_require_fldissect);
}

/* 0: there are no others than the usual ones. */
INLINE u64 policy_list(void)
{
	if (!policy_custom(KOBJ(struct net, CONSTANT(NET))))
		return 0;
	return policy_rules(KLOAD(u64, KADDR(struct net, CONSTANT(NET), ipv4.rules_ops)));
}

/* fib4_rule_match(), for a packet's addresses, as they lie in the header. */
INLINE enum policy_answer policy4_answer(u64 address, u64 device, u64 addresses, u32 mark)
{
	struct policy_match match = policy_match(address, device, mark);
	struct fib4_rule *rule = KOBJ(struct fib4_rule, address);
	u32 from = addresses, to = addresses >> 32;

	COLLECT(match.other, (from ^ KGET(u32, rule, src)) & KGET(u32, rule, srcmask));
	COLLECT(match.other, (to ^ KGET(u32, rule, dst)) & KGET(u32, rule, dstmask));
	COLLECT(match.doubt, KGET(u8, rule, dscp));
	if (bpf_core_field_exists(struct fib4_rule, dscp_mask))
		COLLECT(match.doubt, KGET(u8, rule, dscp_mask));
	if (bpf_core_field_exists(struct fib4_rule, dscp_full))
		COLLECT(match.doubt, BPF_CORE_READ_BITFIELD(rule, dscp_full));
	return policy_answer(address, match);
}

/* The struct fib_table * with a number. */
INLINE struct search policy_table(u32 number)
{
	u64 tables = KLOAD(u64, KADDR(struct net, CONSTANT(NET), ipv4.fib_table_hash));

	return (struct search){policy_table_search(tables, number,
						   bpf_core_field_offset(struct fib_table, tb_hlist),
						   bpf_core_field_offset(struct fib_table, tb_id))};
}

/*
 * What comes of a route that a rule has led to (fib4_rule_suppress()): the rule may not want it, if it is not
 * for a prefix that is long enough. Of a route that says no, that does not matter to Linux, and then the
 * kernel's lookup says so. One that is passed over must bear the mark without which its going would not be
 * announced; the kernel's lookup leaves it there for the next packet.
 */
INLINE struct search policy_accept(u64 rule_address, u64 alias_address)
{
	struct fib_rule *rule = KOBJ(struct fib_rule, rule_address);
	struct fib_alias *alias = KOBJ(struct fib_alias, alias_address);
	s32 length = 32 - KGET(u8, alias, fa_slen);

	if (KGET(u8, alias, fa_dscp) || KGET(s32, rule, suppress_ifgroup) != -1)
		return search_doubt();
	if (KGET(u8, alias, fa_type) != ROUTE_THROWS && length > KGET(s32, rule, suppress_prefixlen))
		return search_found(alias_address);
	return KGET(u8, alias, fa_state) & ROUTE_ACCESSED ? search_none() : search_doubt();
}

/* The route by a rule that matches; there may be none, and the next rule is asked: fib4_rule_action(). */
INLINE struct search policy_look(u64 rule, u32 to)
{
	if (policy_action(rule) == RULE_NO_ACTION)
		return search_none();
	if (policy_action(rule) != RULE_LOOKS_UP)
		return search_doubt();
	struct search found = policy_table(KLOAD(u32, KADDR(struct fib_rule, rule, table)));
	u64 table = found_or_linux(found);

	if (!table)
		return found;
	found = fib_find(table, bpf_ntohl(to));
	u64 alias = found_or_linux(found);

	return alias ? policy_accept(rule, alias) : found;
}

/* fib_rules_lookup(): see policy_find(). */
APART u64 policy_search(u64 device, u64 addresses, u32 mark)
{
	u64 rules = policy_list(), node = KLOAD(u64, rules);
	struct search search;

	SEARCH (search, POLICY_RULES_MAX) {
		if (node == rules)
			CONCLUDE(search, search_none());
		enum policy_answer answer = policy4_answer(policy_rule(node), device, addresses, mark);

		if (answer == POLICY_DOUBT)
			CONCLUDE(search, search_doubt());
		if (answer == POLICY_YES) {
			struct search found = policy_look(policy_rule(node), addresses >> 32);

			if (!search_surely_none(found))
				CONCLUDE(search, found);
		}
		node = KLOAD(u64, node);
	}
	return search.answer;
}

/* The struct fib_alias * for a packet's addresses, as they lie in the header, that comes by a device with a
 * mark. */
INLINE struct search policy_find(u64 device, u64 addresses, u32 mark)
{
	return (struct search){policy_search(device, addresses, mark)};
}

/* Whether rules may ask for other names than when the route was found: the source's depends on the departure.
 */
INLINE u64 policy_renamed(const struct tna_route *route, const struct tna_route_stack *part)
{
	return route->names && route->names != name_number(name_number(0, known_arrival(route, part)),
							   known_departure(route, part));
}

#endif
