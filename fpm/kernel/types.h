/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_TYPES_H
#define TNA_KERNEL_TYPES_H

/*
 * The kernel's own types, cut down to what the fast path reads. CO-RE finds the fields' real places
 * in the running kernel; a field that a kernel may lack is asked for with bpf_core_field_exists().
 */

#include <linux/types.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;

struct sk_buff;
struct Qdisc;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next, *prev;
};

struct hlist_node {
	struct hlist_node *next, **pprev;
};

struct hlist_head {
	struct hlist_node *first;
};

/* net/bridge/br_private.h */
struct rhash_head {
	struct rhash_head *next;
};

struct rhash_lock_head;

struct bucket_table {
	unsigned int size;
	unsigned int nest;
	u32 hash_rnd;
	struct bucket_table *future_tbl;
	struct rhash_lock_head *buckets[0];
};

struct rhashtable {
	struct bucket_table *tbl;
};

typedef struct mac_addr {
	unsigned char addr[6];
} mac_addr;

struct net_bridge_fdb_key {
	mac_addr addr;
	u16 vlan_id;
};

struct net_bridge_fdb_entry {
	struct rhash_head rhnode;
	struct net_bridge_port *dst;
	struct net_bridge_fdb_key key;
	struct hlist_node fdb_node;
	unsigned long flags;
	unsigned long updated;
};

struct net_bridge {
	struct hlist_head frame_type_list;
	struct net_device *dev;
	unsigned long options;
	u16 vlan_proto; /* only with CONFIG_BRIDGE_VLAN_FILTERING, as are the next one and the types below */
	struct net_bridge_vlan_group *vlgrp;
	struct rhashtable fdb_hash_tbl;
	unsigned char topology_change;
	unsigned long ageing_time;
};

struct net_bridge_port {
	struct net_bridge *br;
	struct net_device *dev;
	unsigned long flags;
	struct net_bridge_vlan_group *vlgrp;
	unsigned char state;
	int hwdom; /* only with CONFIG_NET_SWITCHDEV */
};

struct net_bridge_vlan_group {
	struct rhashtable vlan_hash;
	u16 pvid;
};

struct net_bridge_vlan {
	struct rhash_head vnode;
	u16 vid;
	u16 flags;
	u8 state;
	struct net_bridge_port *port;
	struct net_bridge_vlan *brvlan;
	struct list_head vlist;
};

/* include/linux/netdevice.h, include/net/sch_generic.h */
struct Qdisc_ops {
	char id[16];
};

struct Qdisc {
	int (*enqueue)(struct sk_buff *, struct Qdisc *, struct sk_buff **);
	unsigned int flags;
	u32 limit;
	const struct Qdisc_ops *ops;
	struct qdisc_size_table *stab;
	long privdata[0];
};

/* net/sched/sch_fq.c */
struct fq_sched_data {
	u32 flow_plimit;
	unsigned long flow_max_rate;
	u64 ce_threshold;
};

/* include/net/rtnetlink.h, drivers/net/veth.c */
struct rtnl_link_ops {
	const char *kind;
};

struct veth_priv {
	struct net_device *peer;
};

struct netdev_queue {
	struct Qdisc *qdisc;
};

typedef struct {
	struct net *net;
} possible_net_t;

struct net_device {
	struct {
		struct list_head lower;
	} adj_list;
	unsigned long priv_flags : 32;
	char name[16];
	struct netdev_queue *_tx;
	unsigned int mtu, real_num_tx_queues;
	unsigned int gso_max_size, gso_ipv4_max_size;
	u16 gso_max_segs;
	struct nf_hook_entries *nf_hooks_egress;
	struct bpf_mprog_entry *tcx_egress;
	unsigned long state;
	unsigned int flags;
	int group, ifindex;
	struct in_device *ip_ptr;
	struct inet6_dev *ip6_ptr;
	void *rx_handler;
	void *rx_handler_data;
	const unsigned char *dev_addr;
	struct list_head ptype_specific;
	possible_net_t nd_net;
	struct bpf_mprog_entry *tcx_ingress;
	struct list_head ptype_all;
	struct netdev_rx_queue *_rx;
	u64 features, xdp_features;
	struct nf_hook_entries *nf_hooks_ingress;
	struct bpf_prog *xdp_prog; /* a generic one */
	const struct rtnl_link_ops *rtnl_link_ops;
	struct Qdisc *qdisc;
	struct hlist_node index_hlist;
	struct list_head dev_list;
	u8 priv[0];
	struct vlan_info *vlan_info; /* only with CONFIG_VLAN_8021Q */
	struct netprio_map *priomap; /* only with CONFIG_CGROUP_NET_PRIO */
};

/* net/core/dev.c */
struct netdev_adjacent {
	struct net_device *dev;
	struct list_head list;
};

/* net/8021q/vlan.h */
struct vlan_group {
	unsigned int nr_vlan_devs;
	struct net_device **vlan_devices_arrays[16]; /* [2][8], of which BTF knows the sum only */
};

struct vlan_info {
	struct vlan_group grp;
};

/* include/linux/if_vlan.h; only with CONFIG_VLAN_8021Q */
struct vlan_dev_priv {
	unsigned int nr_ingress_mappings;
	unsigned int nr_egress_mappings;
	u16 vlan_proto;
	u16 vlan_id;
	u16 flags;
	struct net_device *real_dev;
};

/* include/linux/bpf.h */
struct bpf_prog_aux {
	u32 id;
};

struct bpf_prog {
	u8 tag[8];
	struct bpf_prog_aux *aux;
};

/* kernel/bpf/mprog.c, include/net/tcx.h */
struct bpf_mprog_fp {
	struct bpf_prog *prog;
};

struct bpf_mprog_entry {
	struct bpf_mprog_fp fp_items[64];
	struct bpf_mprog_bundle *parent;
};

struct bpf_mprog_bundle {
	struct bpf_mprog_entry a;
};

struct tcx_entry {
	struct mini_Qdisc *miniq;
	struct bpf_mprog_bundle bundle;
};

/* include/linux/bpf.h */
struct bpf_array {
	void *pptrs[0]; /* of each CPU */
};

/* include/linux/netfilter.h, include/net/net_namespace.h */
struct nf_hook_entry {
	void *hook;
	void *priv;
};

struct nf_hook_entries {
	u16 num_hook_entries;
	struct nf_hook_entry hooks[0];
};

struct netns_nf {
	struct nf_hook_entries *hooks_ipv4[5];
	struct nf_hook_entries *hooks_ipv6[5];
	struct nf_hook_entries *hooks_bridge[5];
};

/* include/net/netns/conntrack.h */
struct nf_tcp_net {
	u8 tcp_be_liberal;
	u8 tcp_ignore_invalid_rst; /* since 6.1 */
};

struct nf_ip_net {
	struct nf_tcp_net tcp;
};

struct netns_ct {
	u8 sysctl_checksum;
	struct nf_ip_net nf_ct_proto;
};

struct netns_nftables {
	unsigned int base_seq;
};

/* include/net/netns/ipv4.h, include/net/netns/ipv6.h, include/net/netns/xfrm.h */
struct netns_ipv4 {
	struct ipv4_devconf *devconf_all;
	struct fib_rules_ops *rules_ops; /* these two only with CONFIG_IP_MULTIPLE_TABLES */
	unsigned int fib_rules_require_fldissect;
	struct fib_table *fib_main;
	struct hlist_head *fib_table_hash;
	u8 fib_has_custom_rules;
	u8 sysctl_ip_fwd_update_priority;
	struct {
		int counter;
	} rt_genid;
};

struct netns_ipv6 {
	struct ipv6_devconf *devconf_all;
	struct fib6_info *fib6_null_entry;
	struct hlist_head *fib_table_hash; /* these three only with CONFIG_IPV6_MULTIPLE_TABLES */
	unsigned int fib6_rules_require_fldissect;
	struct fib_rules_ops *fib6_rules_ops;
	struct fib6_table *fib6_main_tbl;
	struct fib6_table *fib6_local_tbl; /* these two only with CONFIG_IPV6_MULTIPLE_TABLES */
	u8 fib6_has_custom_rules;
	unsigned int fib6_routes_require_src; /* only with CONFIG_IPV6_SUBTREES */
	struct {
		int counter;
	} fib6_sernum;
};

struct netns_xfrm {
	unsigned int policy_count[6];
	u8 policy_default[3];
};

struct net_generic {
	struct {
		unsigned int len;
	} s;
};

struct netns_packet {
	struct hlist_head sklist;
};

struct ns_common {
	unsigned int inum;
};

struct net {
	struct ns_common ns;
	struct list_head dev_base_head;
	struct hlist_head *dev_index_head;
	struct list_head ptype_all;
	struct list_head ptype_specific;
	struct netns_packet packet;
	struct netns_ipv4 ipv4;
	struct netns_ipv6 ipv6; /* only with CONFIG_IPV6 */
	struct netns_xfrm xfrm;
	struct netns_nf nf;
	struct netns_ct ct; /* only with CONFIG_NF_CONNTRACK */
	struct netns_nftables nft;
	struct net_generic *gen;
};

/* net/bridge/br_netfilter_hooks.c */
struct ctl_table {
	void *data;
};

struct ctl_table_header {
	const struct ctl_table *ctl_table;
};

struct brnf_net {
	struct ctl_table_header *ctl_hdr;
	int call_iptables;
	int call_ip6tables;
	int call_arptables;
};

/* include/net/xdp.h, drivers/net/veth.c, include/linux/skbuff.h */
struct netdev_rx_queue {
	struct rps_map *rps_map;
	struct rps_dev_flow_table *rps_flow_table;
};

struct xdp_rxq_info {
	struct net_device *dev;
	u32 queue_index;
};

struct xdp_buff {
	struct xdp_rxq_info *rxq;
	u32 flags;
};

struct veth_xdp_buff {
	struct xdp_buff xdp;
	struct sk_buff *skb;
};

#pragma clang attribute pop

/* Constants of the kernel's own headers that are in no uapi header and not in BTF. */
#define IFF_UP (1u << 0)
#define IFF_802_1Q_VLAN (1u << 0)
#define IFF_EBRIDGE (1u << 1)
#define IFF_XMIT_DST_RELEASE (1u << 5)
#define IFF_BRIDGE_PORT (1u << 9)
#define IFF_PROMISC (1u << 8)
#define IFF_L3MDEV_SLAVE (1u << 21)
#define LINK_STATE_START (1u << 0)
#define LINK_STATE_NOCARRIER (1u << 2)
#define XDP_BUFF_HAS_FRAGS (1u << 0)
#define NETDEV_XDP_ACT_NDO_XMIT 4u
#define TCQ_F_CAN_BYPASS 4u
#define CHECKSUM_UNNECESSARY 1
#define CHECKSUM_COMPLETE 2
#define CHECKSUM_PARTIAL 3
#define BR_STATE_FORWARDING 3

#endif
