/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_PACKET_SOCKET_TYPES_H
#define TNA_KERNEL_PACKET_SOCKET_TYPES_H

/* Packet sockets, and how Linux finds those that want a frame. */

#include "kernel/types.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/netdevice.h */
struct packet_type {
	u16 type;               /* as it lies in the frame */
	struct net_device *dev; /* NULL: all of them */
	void *af_packet_priv;   /* the socket, or a group of them */
	struct list_head list;
};

/* include/net/sock.h */
struct proto {
	char name[32];
};

struct sock_common {
	struct hlist_node skc_node;
	struct proto *skc_prot;
};

struct sock___of_list {
	struct sock_common __sk_common;
	struct sk_filter *sk_filter;
	u16 sk_type;
};

/* include/linux/filter.h */
struct sk_filter {
	struct bpf_prog *prog;
};

struct bpf_prog___of_socket {
	struct sock_fprog_kern *orig_prog; /* as it was attached; NULL: not as classic BPF */
};

struct sock_fprog_kern {
	u16 len;
	struct sock_filter *filter;
};

/* net/packet/internal.h; where they are a module, the kernel's own types have none of it */
struct packet_sock {
	struct sock___of_list sk;
	struct packet_type prot_hook;
};

#pragma clang attribute pop

#endif
