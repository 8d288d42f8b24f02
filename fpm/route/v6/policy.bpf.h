/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V6_POLICY_H
#define TNA_ROUTE_V6_POLICY_H

/*
 * Routing rules of IPv6 (common/policy.bpf.h; net/ipv6/fib6_rules.c). No generation tells that a route goes,
 * so that nothing may depend on one but the one that is taken.
 */

#include "route/common/policy.bpf.h"
#include "route/v6/fib.bpf.h"

/* Whether a change of the rules moves the generation of the routes: since 6.10. */
INLINE int policy6_announced(struct net *net)
{
	u64 ops = KGET(u64, net, ipv6.fib6_rules_ops);

	return !!KLOAD(u64, KADDR(struct fib_rules_ops, ops, flush_cache));
}

/* Whether that is so, rules are known here, and none of them asks for protocols and ports. */
INLINE int policy6_plain(struct net *net)
{
	return bpf_core_type_exists(struct fib6_rule) &&
	       bpf_core_field_exists(struct net, ipv6.fib6_rules_require_fldissect) &&
	       policy6_announced(net) && !KGET(u32, net, ipv6.fib6_rules_require_fldissect);
}

/* Whether there are rules by which a route may have been found. */
INLINE u64 policy6_followed(struct net *net)
{
	return bpf_core_field_exists(struct net, ipv6.fib6_rules_ops) && policy6_announced(net)
		       ? inet6_rules(net)
		       : 0;
}

/* As policy_list(). */
INLINE u64 policy6_list(void)
{
	if (!inet6_rules(KOBJ(struct net, CONSTANT(NET))))
		return 0;
	return policy_rules(KLOAD(u64, KADDR(struct net, CONSTANT(NET), ipv6.fib6_rules_ops)));
}

/* fib6_rule_match(), for addresses as they lie in the header. */
INLINE enum policy_answer policy6_answer(u64 address, u64 device, const struct ipv6_tuple *tuple, u32 mark)
{
	struct policy_match match = policy_match(address, device, mark);
	struct fib6_rule *rule = KOBJ(struct fib6_rule, address);
	u64 src = KADDR(struct fib6_rule, address, src), dst = KADDR(struct fib6_rule, address, dst);

	COLLECT(match.other,
		!rt6key_matches(src, host_order(tuple->source.prefix), host_order(tuple->source.rest)));
	COLLECT(match.other, !rt6key_matches(dst, host_order(tuple->destination.prefix),
					     host_order(tuple->destination.rest)));
	COLLECT(match.doubt, KGET(u8, rule, dscp));
	if (bpf_core_field_exists(struct fib6_rule, dscp_mask))
		COLLECT(match.doubt, KGET(u8, rule, dscp_mask));
	if (bpf_core_field_exists(struct fib6_rule, dscp_full))
		COLLECT(match.doubt, BPF_CORE_READ_BITFIELD(rule, dscp_full));
	if (bpf_core_field_exists(struct fib6_rule, flowlabel_mask))
		COLLECT(match.doubt, KGET(u32, rule, flowlabel_mask));
	return policy_answer(address, match);
}

/* The struct fib6_table * with a number. */
INLINE struct search policy6_table(u32 number)
{
	u64 tables = KLOAD(u64, KADDR(struct net, CONSTANT(NET), ipv6.fib_table_hash));

	return (struct search){policy_table_search(tables, number,
						   bpf_core_field_offset(struct fib6_table, tb6_hlist),
						   bpf_core_field_offset(struct fib6_table, tb6_id))};
}

/* What comes of the routes that a rule has led to; routes that send a packet on to the next rule may go, and
 * so may those that the rule does not want. */
INLINE struct search policy6_accept(u64 rule_address, u64 node)
{
	struct fib_rule *rule = KOBJ(struct fib_rule, rule_address);
	u64 info = KLOAD(u64, KADDR(struct fib6_node, node, leaf));

	if (info == KLOAD(u64, KADDR(struct net, CONSTANT(NET), ipv6.fib6_null_entry)))
		return search_none();
	if (KLOAD(u8, KADDR(struct fib6_info, info, fib6_type)) == ROUTE_THROWS ||
	    KGET(s32, rule, suppress_ifgroup) != -1 ||
	    (s32)fib6_length(info) <= KGET(s32, rule, suppress_prefixlen))
		return search_doubt();
	return search_found(node);
}

/* As policy_look(). */
INLINE struct search policy6_look(u64 rule, const struct ipv6_address *to)
{
	if (policy_action(rule) == RULE_NO_ACTION)
		return search_none();
	if (policy_action(rule) != RULE_LOOKS_UP)
		return search_doubt();
	struct search found = policy6_table(KLOAD(u32, KADDR(struct fib_rule, rule, table)));

	u64 table = found_or_linux(found);

	if (!table)
		return found;
	found = fib6_find(fib6_root(table), host_order(to->prefix), host_order(to->rest));
	u64 node = found_or_linux(found);

	return node ? policy6_accept(rule, node) : found;
}

/* fib_rules_lookup(): see policy6_find(). */
APART u64 policy6_search(u64 device, const struct ipv6_tuple *tuple, u32 mark)
{
	u64 rules = policy6_list(), node = KLOAD(u64, rules);
	struct search search = search_doubt();

	if (!tuple)
		return search.answer;
	SEARCH (search, POLICY_RULES_MAX) {
		if (node == rules)
			CONCLUDE(search, search_none());
		enum policy_answer answer = policy6_answer(policy_rule(node), device, tuple, mark);

		if (answer == POLICY_DOUBT)
			CONCLUDE(search, search_doubt());
		if (answer == POLICY_YES) {
			struct search found = policy6_look(policy_rule(node), &tuple->destination);

			if (!search_surely_none(found))
				CONCLUDE(search, found);
		}
		node = KLOAD(u64, node);
	}
	return search.answer;
}

/* The struct fib6_node * for a packet's addresses, as they lie in the header, that comes by a device
 * with a mark. */
INLINE struct search policy6_find(u64 device, const struct ipv6_tuple *tuple, u32 mark)
{
	return (struct search){policy6_search(device, tuple, mark)};
}

/* As policy_renamed(); of sources nothing is asked. */
INLINE u64 policy6_renamed(const struct tna_route *route, const struct tna_route_stack *part)
{
	return route->names && route->names != name_number(0, known_arrival(route, part));
}

#endif
