/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_BUFFER_TYPES_H
#define TNA_KERNEL_BUFFER_TYPES_H

/* The kernel's types for socket buffers (include/linux/skbuff.h, include/net/sock.h), cut down like those of
 * types.h. */

#include "kernel/types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* which there are depends on the configuration */
enum skb_ext_id {
	SKB_EXT_BRIDGE_NF,
};

struct skb_ext {
	u8 offset[1]; /* in units of eight bytes */
};

/* What a bridge notes of a packet that it has netfilter called for. */
struct nf_bridge_info {
	int physinif; /* since 6.8 */
	struct net_device *physindev;
	struct net_device *physoutdev;
};

struct sk_buff {
	unsigned char ip_summed : 2;
	unsigned char encapsulation : 1;
	u16 csum_offset;
	u32 vlan_all;
	u16 protocol;
	u16 mac_len;
	u16 mac_header;
	int skb_iif;
	unsigned char redirected : 1; /* only with CONFIG_NET_REDIRECT */
	u32 secmark;                  /* only with CONFIG_NETWORK_SECMARK */
	u32 mark;
	unsigned long _skb_refdst;
	unsigned long _nfct;  /* only with CONFIG_NF_CONNTRACK */
	u8 active_extensions; /* only with CONFIG_SKB_EXTENSIONS */
	struct skb_ext *extensions;
	unsigned char nf_trace : 1; /* only with CONFIG_NF_TABLES */
	unsigned char *head;
	u16 network_header;
	unsigned int end;
	struct net_device *dev;
	unsigned int len, data_len;
	struct sock *sk;
	unsigned char offload_fwd_mark : 1; /* only with CONFIG_NET_SWITCHDEV */
	unsigned char offload_l3_fwd_mark : 1;
};

struct skb_shared_info {
	u8 flags;
	u8 tx_flags;
	u16 gso_size;
	u16 gso_segs;
	struct sk_buff *frag_list;
	u32 gso_type;
};

struct sock {
	void *sk_validate_xmit_skb; /* only with CONFIG_SOCK_VALIDATE_XMIT */
};

#pragma clang attribute pop

#endif
