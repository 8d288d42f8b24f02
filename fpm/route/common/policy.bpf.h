/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_COMMON_POLICY_H
#define TNA_ROUTE_COMMON_POLICY_H

/*
 * Routing rules (`ip rule`): which table a packet's route is searched for in (net/core/fib_rules.c). Once a
 * namespace has had one of its own, the kernel goes through its list of rules for each packet: those that
 * match name a table each, until one has a route. So do v4/policy.bpf.h and v6/policy.bpf.h, for what a
 * packet is known to be when it is routed: its addresses, the device that it came by, and its mark. Rules
 * that ask for anything else (ports, type of service, users, tunnels) are in doubt if the rest of them
 * matches.
 *
 * A change of the rules moves the generation of the routes. Of one thing nothing tells: a device gets another
 * name, which rules ask for by `iif`. So names are remembered where rules ask for any, and compared for each
 * packet.
 */

#include "kernel/inet_types.h"
#include "kernel/loop.bpf.h"
#include "route/common/marks.bpf.h"

#define POLICY_RULES_MAX 128
#define POLICY_TABLES_MAX 64 /* that share a place in the table of tables */
#define TABLES_TOTAL 256     /* FIB_TABLE_HASHSZ, FIB6_TABLE_HASHSZ */
#define LAST_USER (~0u)      /* rules that do not ask for users are for all of them */

/* include/uapi/linux/fib_rules.h, include/uapi/linux/rtnetlink.h */
#define RULE_INVERTED 2u
#define RULE_LOOKS_UP 1
#define RULE_NO_ACTION 3
#define TABLE_MAIN 254
#define ROUTE_THROWS 9 /* RTN_THROW */

/* Both halves of a name, with nothing but zeros behind its end. */
struct device_name {
	u64 begin;
	u64 end;
};

/* The highest bit of the first byte that is 0; 0: there is none. */
INLINE u64 name_end(u64 half)
{
	u64 ends = (half - 0x0101010101010101) & ~half & 0x8080808080808080;

	return ends & -ends;
}

/* Of a name of 16 bytes at an address; one that was longer may have left something behind it. */
INLINE struct device_name name_at(u64 address)
{
	u64 begin = KLOAD(u64, address), end = KLOAD(u64, address + 8);

	if (name_end(begin))
		return (struct device_name){begin & (name_end(begin) - 1), 0};
	return (struct device_name){begin, end & (name_end(end) - 1)};
}

INLINE struct device_name device_name(u64 device)
{
	return name_at(KADDR(struct net_device, device, name));
}

INLINE u64 policy_asked_name(u64 rule)
{
	return KLOAD(u64, KADDR(struct fib_rule, rule, iifname[0]));
}

/* Whether the name that a rule asks for is the device's. */
INLINE int policy_names(u64 rule, u64 device)
{
	struct device_name name = device_name(device),
			   asked = name_at(KADDR(struct fib_rule, rule, iifname[0]));

	return asked.begin == name.begin && asked.end == name.end;
}

/* What is against a rule's being for a packet, and what of it cannot be known here. */
struct policy_match {
	u64 other;
	u64 doubt;
	u64 strange; /* not even if something else is against it */
};

/*
 * fib_rule_match(), for a packet with a mark that comes by a device. Devices that rules name are known by
 * number; while one gets another name, or where it has several, name and number do not say the same.
 */
INLINE struct policy_match policy_match(u64 address, u64 device, u32 mark)
{
	struct fib_rule *rule = KOBJ(struct fib_rule, address);
	u32 wanted = KGET(u32, rule, iifindex);
	u64 is_it = wanted == KLOAD(u32, KADDR(struct net_device, device, ifindex));
	struct policy_match match = {.other = wanted && !is_it};

	if (policy_asked_name(address))
		match.strange = is_it ^ policy_names(address, device);
	COLLECT(match.other, KGET(u32, rule, oifindex)); /* nobody has asked for one */
	COLLECT(match.other, (mark ^ KGET(u32, rule, mark)) & KGET(u32, rule, mark_mask));
	COLLECT(match.other, KGET(u8, rule, l3mdev)); /* ports of VRFs are Linux's */
	COLLECT(match.doubt, KGET(u64, rule, tun_id));
	COLLECT(match.doubt,
		KGET(u32, rule, uid_range.start.val) | (KGET(u32, rule, uid_range.end.val) ^ LAST_USER));
	return match;
}

enum policy_answer { POLICY_NO, POLICY_YES, POLICY_DOUBT };

INLINE enum policy_answer policy_answer(u64 rule, struct policy_match match)
{
	u32 inverted = KLOAD(u32, KADDR(struct fib_rule, rule, flags)) & RULE_INVERTED;

	if (match.strange || (!match.other && match.doubt))
		return POLICY_DOUBT;
	return !match.other == !inverted ? POLICY_YES : POLICY_NO;
}

INLINE u32 policy_action(u64 rule)
{
	return KLOAD(u8, KADDR(struct fib_rule, rule, action));
}

/* The head of the list of rules. */
INLINE u64 policy_rules(u64 ops)
{
	return KADDR(struct fib_rules_ops, ops, rules_list);
}

INLINE u64 policy_rule(u64 node)
{
	return node - bpf_core_field_offset(struct fib_rule, list);
}

/* The table with a number, of which it is known where its link and its number lie: fib_get_table(). */
APART u64 policy_table_search(u64 tables, u32 number, u32 link, u32 id)
{
	u32 wanted = number ? number : TABLE_MAIN;
	u64 node = KLOAD(u64, tables + sizeof(u64) * (wanted % TABLES_TOTAL));
	struct search search;

	SEARCH (search, POLICY_TABLES_MAX) {
		if (!node)
			CONCLUDE(search, search_none());
		u64 table = node - link;

		if (KLOAD(u32, table + id) == wanted)
			CONCLUDE(search, search_found(table));
		node = KLOAD(u64, node);
	}
	return search.answer;
}

/* Whether a rule of a list asks for the name of a device at all; or there are too many to say. */
APART u64 policy_asks_names(u64 rules)
{
	u64 node = KLOAD(u64, rules);
	struct search search;

	SEARCH (search, POLICY_RULES_MAX) {
		if (node == rules)
			CONCLUDE(search, search_none());
		if (policy_asked_name(policy_rule(node)))
			CONCLUDE(search, search_found(node));
		node = KLOAD(u64, node);
	}
	return search.answer;
}

/* A device's name as a number, which goes on from one of others'; never 0. */
INLINE u64 name_number(u64 before, u64 device)
{
	struct device_name name = device_name(device);
	u64 word = before + name.begin;

	word = (word ^ word >> 29) * 0x9e3779b97f4a7c15 + name.end;
	word = (word ^ word >> 29) * 0x9e3779b97f4a7c15;
	return (word ^ word >> 29) | 1;
}

/* What there is to be remembered of a device's name before it is asked where rules of a list (0: there is
 * none) lead to; 0: none of them asks for names. */
INLINE u64 policy_name(u64 rules, u64 device)
{
	return rules && policy_asks_names(rules) ? name_number(0, device) : 0;
}

#endif
