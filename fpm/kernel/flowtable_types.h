/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_FLOWTABLE_TYPES_H
#define TNA_KERNEL_FLOWTABLE_TYPES_H

/* The kernel's types for flowtables, cut down like those of types.h.
 */

#include "kernel/inet_types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/net/netfilter/nf_flow_table.h; only with CONFIG_NF_FLOW_TABLE */
struct nf_flowtable {
	unsigned int flags;
	struct rhashtable rhashtable;
};

enum flow_offload_xmit_type {
	FLOW_OFFLOAD_XMIT_NEIGH,
};

enum nf_flow_flags {
	NF_FLOW_SNAT,
	NF_FLOW_DNAT,
};

struct flow_offload_tuple {
	struct in6_addr src_v6; /* or an address of IPv4 in its place */
	struct in6_addr dst_v6;
	u16 src_port;
	u16 dst_port;
	u8 dir : 2, xmit_type : 3, encap_num : 2;
	u16 mtu;
	struct dst_entry *dst_cache;
	u32 dst_cookie;
};

struct flow_offload_tuple_rhash {
	struct rhash_head node;
	struct flow_offload_tuple tuple;
};

struct flow_offload {
	struct flow_offload_tuple_rhash tuplehash[2];
	unsigned long flags;
};

/* net/netfilter/nf_flow_table_bpf.c, since 6.11 */
struct bpf_flowtable_opts {
	s32 error;
};

#pragma clang attribute pop

/* include/net/dst.h, include/uapi/linux/ipv6_route.h */
#define DST_OBSOLETE_FORCE_CHK 0xffffu /* -1, of 16 bits */
#define RTF_GATEWAY 0x0002u
#define RTF_EXPIRES 0x00400000u
#define RTF_CACHE 0x01000000u

#endif
