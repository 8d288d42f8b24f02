/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_CONNTRACK_TYPES_H
#define TNA_KERNEL_CONNTRACK_TYPES_H

/* The kernel's types for connection tracking, cut down like those of types.h. */

#include "kernel/types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/list_nulls.h */
struct hlist_nulls_node {
	struct hlist_nulls_node *next, **pprev;
};

/* include/uapi/linux/netfilter.h, include/net/netfilter/nf_conntrack_tuple.h */
union nf_inet_addr {
	u32 all[4];
};

union nf_conntrack_man_proto {
	u16 all;
};

struct nf_conntrack_man {
	union nf_inet_addr u3;
	union nf_conntrack_man_proto u;
	u16 l3num;
};

struct nf_conntrack_tuple {
	struct nf_conntrack_man src;
	struct {
		union nf_inet_addr u3;
		union {
			u16 all;
		} u;
		u8 protonum;
		u8 dir;
	} dst;
};

struct nf_conntrack_tuple_hash {
	struct hlist_nulls_node hnnode;
	struct nf_conntrack_tuple tuple;
};

/* include/net/netfilter/nf_conntrack_zones.h; only with CONFIG_NF_CONNTRACK_ZONES */
struct nf_conntrack_zone {
	u16 id;
};

/* include/net/netfilter/nf_conntrack_extend.h; which there are depends on the configuration */
enum nf_ct_ext_id {
	NF_CT_EXT_HELPER,
	NF_CT_EXT_ACCT,
	NF_CT_EXT_TIMEOUT,
	NF_CT_EXT_LABELS,
	NF_CT_EXT_ACT_CT,
};

struct nf_ct_ext {
	u8 offset[9];
};

/* include/linux/netfilter/nf_conntrack_tcp.h */
struct ip_ct_tcp_state {
	u32 td_end;
	u32 td_maxend;
	u32 td_maxwin;
	u32 td_maxack;
	u8 td_scale;
	u8 flags;
};

struct ip_ct_tcp {
	struct ip_ct_tcp_state seen[2];
	u8 state;
	u8 retrans;
	u8 last_index;
	u8 last_dir;
	u32 last_end;
	u16 last_win;
};

/* include/net/netfilter/nf_conntrack.h */
union nf_conntrack_proto {
	struct ip_ct_tcp tcp;
};

struct nf_conntrack {
	struct {
		struct {
			int counter;
		} refs;
	} use;
};

struct nf_conn {
	struct nf_conntrack ct_general;
	u32 timeout;
	struct nf_conntrack_zone zone;
	struct nf_conntrack_tuple_hash tuplehash[2];
	unsigned long status;
	possible_net_t ct_net;
	u32 mark; /* only with CONFIG_NF_CONNTRACK_MARK */
	struct nf_ct_ext *ext;
	union nf_conntrack_proto proto;
};

#pragma clang attribute pop

/* include/uapi/linux/netfilter/nf_conntrack_common.h: IPS_* */
#define CONNECTION_SEEN_REPLY (1u << 1)
#define CONNECTION_ASSURED (1u << 2)
#define CONNECTION_CONFIRMED (1u << 3)
#define CONNECTION_SRC_NAT (1u << 4)
#define CONNECTION_DST_NAT (1u << 5)
#define CONNECTION_SEQ_ADJUST (1u << 6)
#define CONNECTION_DYING (1u << 9)
#define CONNECTION_FIXED_TIMEOUT (1u << 10)
#define CONNECTION_TEMPLATE (1u << 11)
#define CONNECTION_NAT_CLASH (1u << 12)
#define CONNECTION_HELPER (1u << 13)
#define CONNECTION_OFFLOAD (1u << 14)
#define CONNECTION_HW_OFFLOAD (1u << 15)

/* include/uapi/linux/netfilter/nf_conntrack_common.h: enum ip_conntrack_info */
#define CONNECTION_ESTABLISHED 0
#define CONNECTION_ESTABLISHED_REPLY 3
#define CONNECTION_INFO 7ull   /* these bits of skb->_nfct */
#define CONNECTION_EXEMPT 7ull /* all of it: IP_CT_UNTRACKED, and no connection */

/* include/uapi/linux/netfilter/nf_conntrack_tcp.h: enum tcp_conntrack, IP_CT_TCP_FLAG_* */
#define TRACKED_SYN_SENT 1
#define TRACKED_SYN_RECV 2
#define TRACKED_ESTABLISHED 3
#define TRACKED_SYN_SENT2 9
#define TRACKED_SACK (1u << 1)
#define TRACKED_LIBERAL (1u << 3)
#define TRACKED_HAS_ACKED (1u << 5)

/* include/linux/netfilter/nf_conntrack_tcp.h, net/netfilter/nf_conntrack_proto_tcp.c: enum tcp_bit_set */
#define TRACKED_LAST_SYN 0
#define TRACKED_LAST_ACK 3

#endif
