/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_BR_FDB_LOOKUP_H
#define TNA_BR_FDB_LOOKUP_H

/*
 * The interface of bpf_xdp_br_fdb_lookup() and bpf_skb_br_fdb_lookup(): kernel-patches/ explains it. The
 * kernel's own declarations are in its BTF only, and only where it has the kfuncs.
 */
#include <linux/types.h>

enum bpf_br_fdb_ret {
	BPF_BR_FDB_RET_FORWARD,
	BPF_BR_FDB_RET_LOCAL,
	BPF_BR_FDB_RET_FLOOD,
	BPF_BR_FDB_RET_LEARN,
	BPF_BR_FDB_RET_BLOCKED,
	BPF_BR_FDB_RET_NO_EGRESS,
	BPF_BR_FDB_RET_SKB,
	BPF_BR_FDB_RET_NO_PORT,
};

enum bpf_br_fdb_tag {
	BPF_BR_FDB_TAG_KEEP,
	BPF_BR_FDB_TAG_PUSH,
	BPF_BR_FDB_TAG_POP,
	BPF_BR_FDB_TAG_SET,
};

enum { BPF_BR_FDB_LOOKUP_PEEK = 1 };

struct bpf_br_fdb_lookup {
	__u8 src[6];
	__u8 dst[6];
	__be16 vlan_proto;
	__u16 vid;
	__u32 flags;
	__u32 ifindex;
	__u16 vlan;
	__be16 tpid;
	__u8 tag;
	__u8 reserved[3];
};

#endif
