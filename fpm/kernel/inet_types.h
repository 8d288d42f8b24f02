/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_INET_TYPES_H
#define TNA_KERNEL_INET_TYPES_H

/* The kernel's types for routing, cut down like those of types.h. */

#include "kernel/types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/inetdevice.h */
struct ipv4_devconf {
	int data[33];
};

struct in_ifaddr {
	struct in_ifaddr *ifa_next;
	u32 ifa_local;
};

struct in_device {
	struct in_ifaddr *ifa_list;
	struct neigh_parms *arp_parms;
	struct ipv4_devconf cnf;
};

/* include/linux/ipv6.h, include/net/if_inet6.h */
struct ipv6_devconf {
	s32 disable_ipv6;
	s32 mtu6;
	s32 forwarding;
	s32 proxy_ndp;
};

struct inet6_dev {
	struct neigh_parms *nd_parms;
	struct ipv6_devconf cnf;
};

/* include/net/neighbour.h */
struct neigh_parms {
	struct neigh_table *tbl;
};

struct neigh_table {
	struct neigh_hash_table *nht;
};

struct neigh_hash_table {
	struct hlist_head *hash_heads;   /* since 6.13 */
	struct neighbour **hash_buckets; /* before */
	unsigned int hash_shift;
	u32 hash_rnd[4];
};

struct neighbour {
	struct hlist_node hash; /* since 6.13; before, "next" is in its place */
	struct neighbour *next;
	u8 nud_state;
	u8 dead;
	struct {
		unsigned int sequence;
	} ha_lock;
	unsigned char ha[32];
	struct net_device *dev;
	u8 primary_key[0];
};

/* include/net/fib_rules.h */
struct fib_rules_ops {
	void *flush_cache;
	struct list_head rules_list;
};

struct fib_kuid_range {
	struct {
		u32 val;
	} start, end;
};

struct fib_rule {
	struct list_head list;
	int iifindex;
	int oifindex;
	u32 mark;
	u32 mark_mask;
	u32 flags;
	u32 table;
	u8 action;
	u8 l3mdev;
	u64 tun_id;
	int suppress_ifgroup;
	int suppress_prefixlen;
	char iifname[16];
	struct fib_kuid_range uid_range;
};

/* net/ipv4/fib_rules.c */
struct fib4_rule {
	struct fib_rule common;
	u8 dscp;
	u8 dscp_mask;     /* since 6.15 */
	u8 dscp_full : 1; /* since 6.12 */
	u32 src;
	u32 srcmask;
	u32 dst;
	u32 dstmask;
};

/* net/ipv4/fib_trie.c, include/net/ip_fib.h, include/net/nexthop.h */
struct fib_table {
	struct hlist_node tb_hlist;
	u32 tb_id;
	unsigned long *tb_data;
};

struct key_vector {
	u32 key;
	unsigned char pos;
	unsigned char bits;
	struct key_vector *tnode[0];
};

struct fib_alias {
	struct hlist_node fa_list;
	struct fib_info *fa_info;
	u8 fa_dscp;
	u8 fa_type;
	u8 fa_state;
	u8 fa_slen;
};

struct dst_metrics {
	u32 metrics[17];
};

/* include/net/dst.h, include/net/route.h */
struct dst_entry {
	struct net_device *dev;
	unsigned long _metrics; /* an address, and flags */
	short obsolete;
};

struct rtable {
	struct dst_entry dst;
	int rt_genid;
	u16 rt_type;
	u8 rt_gw_family;
	u32 rt_gw4;
};

struct fib_nh_common {
	struct net_device *nhc_dev;
	unsigned char nhc_scope;
	u8 nhc_gw_family;
	unsigned char nhc_flags;
	struct lwtunnel_state *nhc_lwtstate;
	union {
		u32 ipv4; /* or the first of four words of an IPv6 address */
	} nhc_gw;
	struct rtable *nhc_rth_input;
	struct fnhe_hash_bucket *nhc_exceptions;
};

struct fib_nh {
	struct fib_nh_common nh_common;
};

struct fib_info {
	unsigned char fib_dead;
	unsigned int fib_flags;
	struct dst_metrics *fib_metrics;
	int fib_nhs;
	struct nexthop *nh;
	struct fib_nh fib_nh[0];
};

#define METRICS_FLAGS 3u /* DST_METRICS_FLAGS */
#define ROUTE_UNICAST 1  /* RTN_UNICAST */

/* include/net/ip6_fib.h */
struct in6_addr {
	u32 words[4]; /* called otherwise there */
};

struct rt6_info {
	struct dst_entry dst;
	struct fib6_info *from;
	int sernum;
	struct in6_addr rt6i_gateway;
	u32 rt6i_flags;
};

struct fib6_node {
	struct fib6_node *parent;
	struct fib6_node *left;
	struct fib6_node *right;
	struct fib6_info *leaf;
	u16 fn_bit;
	int fn_sernum;
	u16 fn_flags;
	struct fib6_info *rr_ptr;
};

struct fib6_table {
	struct hlist_node tb6_hlist;
	u32 tb6_id;
	struct fib6_node tb6_root;
};

struct rt6key {
	int plen; /* behind the address */
};

/* net/ipv6/fib6_rules.c */
struct fib6_rule {
	struct fib_rule common;
	struct rt6key src;
	struct rt6key dst;
	u32 flowlabel_mask; /* since 6.14 */
	u8 dscp;
	u8 dscp_mask;     /* since 6.15 */
	u8 dscp_full : 1; /* since 6.12 */
};

struct fib6_nh {
	struct fib_nh_common nh_common;
	struct rt6_info **rt6i_pcpu; /* of each CPU */
	struct rt6_exception_bucket *rt6i_exception_bucket;
};

struct fib6_info {
	struct fib6_table *fib6_table;
	struct fib6_info *fib6_next;
	struct fib6_node *fib6_node;
	unsigned int fib6_nsiblings;
	unsigned long expires;
	struct dst_metrics *fib6_metrics;
	struct rt6key fib6_dst;
	u32 fib6_flags;
	u32 fib6_metric;
	u8 fib6_type;
	struct nexthop *nh;
	struct fib6_nh fib6_nh[0];
};

struct nh_info {
	struct fib_nh_common fib_nhc;
};

struct nexthop {
	u8 is_group;
	struct nh_info *nh_info;
};

#pragma clang attribute pop

/* include/uapi/linux/neighbour.h */
#define NUD_REACHABLE 0x02u
#define NUD_DELAY 0x08u
#define NUD_PROBE 0x10u
#define NUD_NOARP 0x40u
#define NUD_PERMANENT 0x80u

#endif
