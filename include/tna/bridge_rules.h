/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_BRIDGE_RULES_TYPES_H
#define TNA_BRIDGE_RULES_TYPES_H

/* What the fast path learns of flows that pass rules of bridges (family bridge), and what it is told of
 * those. */

#include <tna/connection.h>

/* br_netfilter is among the functions that are called. */
#define TNA_BRIDGE_CALLS 4u

/* The rules of bridges, as the controller has judged them; `generation` is written last, and is 0 meanwhile,
 * where nothing is steady, and from when packets meet other functions. */
struct tna_judged_bridge_rules {
	__u32 generation;                /* of the rule sets that were judged */
	__u32 serial;                    /* of the judgement */
	__u32 steady;                    /* TNA_STEADY_*, TNA_BRIDGE_CALLS */
	__u32 missed;                    /* packets have met other functions */
	__u32 functions[TNA_RULE_HOOKS]; /* their number */
	__u32 unused;
	__u64 lists[TNA_RULE_HOOKS]; /* struct nf_hook_entries * */
};

/* All that steady rules may look at in a packet in the middle of a flow, as it lies in the headers. */
struct tna_bridged_packet {
	__u64 source[2]; /* of IPv4, one word */
	__u64 destination[2];
	__u64 from; /* MAC addresses */
	__u64 to;
	__u16 source_port;
	__u16 destination_port;
	__u32 service;  /* type of service; or version, traffic class and flow label */
	__u32 protocol; /* of IP */
	__u32 version;  /* 4 or 6 */
};

/* br_netfilter calls IP's rules for it: because its sysctl says so, or because the bridge does. */
#define TNA_CALLED_BY_SYSCTL 1u
#define TNA_CALLED_BY_OPTION 2u

/* Such a packet has passed. */
struct tna_bridge_lesson {
	__u64 stamp; /* no two lessons have the same */
	struct tna_bridged_packet packet;
	struct tna_rule_device came; /* as rules know these */
	struct tna_rule_device left;
	struct tna_rule_device bridge;
	__u32 serial;      /* of the judgement about the rules that let it pass */
	__u32 calls;       /* TNA_CALLED_*: which of these rules are passed depends on it */
	__u64 stamp_again; /* the same as above, if this is one lesson, and not the halves of two */
};

/* Per CPU: the packet that was received last. */
struct tna_bridge_passage {
	__u64 packet;     /* struct sk_buff *; 0: it is of no interest */
	__u64 device;     /* struct net_device *, by which it came */
	__u32 generation; /* of the rules when it set out */
	__u32 serial;     /* of the judgement about those */
	__u32 calls;      /* TNA_CALLED_* */
	__u32 hops;       /* time to live, or hop limit */
	struct tna_bridged_packet is;
};

#endif
