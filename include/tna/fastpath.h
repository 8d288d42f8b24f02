/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_FASTPATH_H
#define TNA_FASTPATH_H

/* What the fast path (BPF) and the controller share: maps' keys and values. */

#include <linux/types.h>
#include <tna/reasons.h>

/*
 * A flow cache entry: for one pair of stations seen by one CPU, where the kernel keeps the two FDB
 * entries. Only addresses are cached, never facts: every frame proves them again in place. It counts
 * what it forwarded, in the cache line that the frame needs anyway.
 */
struct tna_flow {
	__u64 source;       /* struct net_bridge_fdb_entry * */
	__u64 destination;  /* struct net_bridge_fdb_entry * */
	__u64 ingress_port; /* struct net_bridge_port * that in_slot stands for */
	__u64 egress_dev;   /* struct net_device * that out_slot stands for */
	__u32 epoch;        /* of the slot table, when the slots were looked up */
	__u16 in_slot;
	__u16 out_slot;
	__u64 packets;
	__u64 bytes;
	__u64 fresh_until; /* jiffies: then Linux gets a frame, to refresh the source's entry */
};

/*
 * A route cache entry: for one pair of addresses seen by one CPU, where the kernel keeps the route and
 * the neighbour that they lead to, and what the frame is to look like. The generation of the routes says
 * whether what was looked up still holds; the rest is proved in place.
 */
struct tna_route {
	__u64 addresses;   /* source and destination, as they lie in the header */
	__u64 ingress_dev; /* struct net_device * */
	__u64 alias;       /* struct fib_alias * */
	__u64 info;        /* struct fib_info *, of that alias */
	__u64 hop;         /* struct fib_nh_common * */
	__u64 neighbour;   /* struct neighbour * */
	__u64 egress_dev;  /* struct net_device * that out_slot stands for */
	__u64 epoch;       /* of the slot table, and above it the generation of the routes */
	__u16 in_slot;
	__u16 out_slot;
	__u32 start;        /* EtherType, version, header length and TOS, as they lie in the frame */
	__u32 gateway;      /* the neighbour's key */
	__u32 mtu;          /* of route and device */
	__u64 destination;  /* the neighbour's MAC address, and what lies behind it */
	__u64 source;       /* the egress device's MAC address */
	__u64 reverse_path; /* settings with which the source was found in order */
	__u64 packets;
	__u64 bytes;
	__u64 unused; /* two cache lines */
};

/* Per port and CPU: the slow path by reason, and what evicted flows had counted. */
struct tna_port_counters {
	__u64 in_packets;
	__u64 in_bytes;
	__u64 out_packets;
	__u64 out_bytes;
	__u64 slow[TNA_REASON_COUNT];
};

/* What was found out about the namespace, by the fast path itself, and the slot table's epoch. */
struct tna_namespace {
	__u64 bridge_hooks[2]; /* the hook lists found harmless: pre-routing, forward */
	__u32 nft_base_seq;    /* rule set generation for which they were */
	__u32 epoch;           /* of the slot table */
};

/* The slot table: ifindex -> slot of a managed port. */
struct tna_port_slot {
	__u32 slot;
};

/* What the probe program finds out for the controller. */
struct tna_probe {
	/* in */
	__u32 ifindex; /* a device of this namespace */
	__u32 unused;
	__u64 key; /* an FDB key to look up in that device's bridge (the device is the bridge or a port) */
	/* out */
	__u64 net;
	__u64 brnf;
	__u32 brnf_iptables;
	__u32 brnf_ip6tables;
	__u64 device;
	__u64 port_flags;
	__u64 bridge_options;
	__u64 entry; /* 0 = no such entry */
	__u64 entry_flags;
	__u32 entry_port; /* ifindex of the entry's port, 0 = none */
	__u32 port_state;
	__u32 packed; /* TNA_CONSTANT_PACKED holds */
};

#endif
