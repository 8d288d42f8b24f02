/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_FASTPATH_H
#define TNA_FASTPATH_H

/* What the fast path (BPF) and the controller share: maps' keys and values. */

#include <linux/types.h>
#include <tna/bridge_rules.h>
#include <tna/connection.h>
#include <tna/decision.h>
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
	__u32 mark;         /* the pair of stations, and the epoch of the slot table: flow_mark() */
	__u16 in_slot;
	__u16 out_slot;
	__u64 packets;
	__u64 bytes;
	__u64 fresh_until; /* jiffies: then Linux gets a frame, to refresh the source's entry */
};

/* For bridges that filter VLANs, beside each flow: the two ports' parts in the frames' VLAN. */
struct tna_flow_vlans {
	__u64 ingress; /* struct net_bridge_vlan * */
	__u64 egress;  /* struct net_bridge_vlan * */
};

/*
 * A route cache entry: for one pair of addresses seen by one CPU, where the kernel keeps the route and
 * the neighbour that they lead to, and what the frame is to look like. The generation of the routes says
 * whether what was looked up still holds; the rest is proved in place.
 */
struct tna_route {
	union {
		__u64 addresses; /* source and destination, as they lie in the header */
		__u64 table;     /* IPv6: struct fib6_table * */
	};
	__u64 ingress_dev; /* struct net_device *: the port, or the VLAN device on it that packets are for */
	__u64 alias;       /* struct fib_alias *, of IPv6 struct fib6_node * */
	__u64 info;        /* struct fib_info *, struct fib6_info *, of that alias or node */
	__u64 hop;         /* struct fib_nh_common * */
	__u64 neighbour;   /* struct neighbour * */
	__u64 egress_dev;  /* struct net_device * that out_slot stands for */
	__u64 epoch;       /* of the slot table, and above it the generation of the routes */
	__u16 in_slot;
	__u16 out_slot;
	__u32 start;       /* EtherType, version, header length and TOS, as they lie in the frame */
	__u32 gateway;     /* the neighbour's key */
	__u32 mtu;         /* of route and device */
	__u64 destination; /* the neighbour's MAC address, and what lies behind it */
	__u64 source;      /* the egress device's MAC address */
	union {
		__u64 reverse_path; /* settings with which the source was found in order */
		__u64 policy;       /* IPv6: whether there were routing rules */
	};
	__u64 packets;
	__u64 bytes;
	__u64 mtus;  /* IPv6: what the MTU was made of */
	__u64 names; /* of the devices that it comes and leaves by, where routing rules ask for some; else 0
		      */
	__u32 mark;  /* of packets, where routing rules may ask for it; else 0 */
	__u32 above; /* not 0: it is handed to another device, on top of that of out_slot */
};

#define TNA_DESTINATION_WAYS 4

/* What an address is routed by, where routes are many; so many of them make a cache line. */
struct tna_destination {
	__u64 key;   /* the address, as it lies in the header, and above it the generation of the routes */
	__u64 alias; /* struct fib_alias * */
};

/*
 * A route of IPv6, without what only IPv4 needs: addresses, start, gateway, reverse_path. Addresses in two
 * words each, as they lie in the header.
 */
struct tna_route6 {
	struct tna_route route;
	__u64 source_prefix;
	__u64 source_rest;
	__u64 destination_prefix;
	__u64 destination_rest;
	__u64 gateway_prefix; /* the neighbour's key */
	__u64 gateway_rest;
	__u64 metrics;      /* struct dst_metrics * */
	__u64 egress_inet6; /* struct inet6_dev *, there as long as the route */
};

/*
 * For packets that are routed to or from a device on top of a port (a bridge or a VLAN device), beside each
 * route: those of IPv4, and behind them those of IPv6.
 */
struct tna_route_stack {
	__u64 source;      /* struct net_bridge_fdb_entry * of the sender, behind a bridge */
	__u64 own;         /* the same of the bridge's own address */
	__u64 fresh_until; /* jiffies: then Linux gets a frame, to refresh the sender's entry */
	__u64 departure;   /* struct net_device * to which Linux hands the packet: the egress device or one on
			      top of it */
	__u64 destination; /* struct net_bridge_fdb_entry * of the next hop; 0: the packet leaves by no bridge
			    */
	__u32 tag;         /* with which the packet leaves, as it lies in the frame; 0: none */
	__u32 arrival_tag; /* with which a bridge hands the frame to the host: its VLAN device's; 0: none */
	__u64 in_vlan; /* struct net_bridge_vlan *, the ingress port's part in the frame's VLAN, of a bridge
			  that  filters them */
	union {
		__u64 out_vlan; /* by a bridge: the same of the egress port, 0 if it does not filter */
		__u64 between;  /* by no bridge: struct net_device * of the VLAN device between departure and
				   egress device; 0: there is none */
	};
};

/* Per port and CPU: the slow path by reason, and what evicted flows had counted. */
struct tna_port_counters {
	__u64 in_packets;
	__u64 in_bytes;
	__u64 out_packets;
	__u64 out_bytes;
	__u64 slow[TNA_REASON_COUNT];
};

/*
 * What has been decided about a CPU's present frame, and what became of those before it: counted as one run,
 * until a frame goes another way.
 */
struct tna_decision_note {
	struct tna_decision decision;
	__u32 slots;
	__u32 tag; /* at tcx: the one beside the frame, */
	__u64 packets;
	__u64 bytes;
	__u64 device; /* the address of the egress port's, */
	__u32 above;  /* and whether a routed packet is handed to a device on top of it */
	__u32 ports;  /* of TCP or UDP, as they lie in the frame, or what is in their place */
};

/* The modules that the self-check may pause. */
#define TNA_CHECKED_BRIDGE 1u
#define TNA_CHECKED_ROUTE 2u

/* Where a packet would go: a device (0: to Linux), and routed a gateway or the destination, as in a header.
 */
struct tna_answer {
	__u32 ifindex;
	__u32 unused;
	__u64 gateway[2];
};

/* For what the self-check has paused a module. */
struct tna_disagreement {
	__u32 module;
	__u32 family;  /* AF_INET, AF_INET6; 0: MAC addresses */
	__u32 arrival; /* ifindex */
	__u32 reason;  /* for which the frame is Linux's; TNA_REASON_COUNT: it just goes elsewhere */
	__u64 from[2]; /* as in the header */
	__u64 to[2];
	struct tna_answer ours;
	struct tna_answer kernel;
};

/* One that a change may explain; times are of CLOCK_MONOTONIC_COARSE. */
struct tna_suspicion {
	__u64 key;
	__u64 since;
	__u64 last;
	__u64 times;
};

/*
 * A filter of packet sockets (classic BPF) that wants nothing of what is forwarded, which goes to single
 * stations, but for packets which are Linux's for as long as there are such filters: what is neither IPv4 nor
 * IPv6, UDP over IPv4 for these ports, and what is for this station, which EDP takes for a group
 * (00:e0:2b:00:00:00).
 */
#define TNA_FILTERS_MAX 4 /* a power of two */
#define TNA_FILTER_LENGTH_MAX 40
#define TNA_DHCP_SERVER 67
#define TNA_DHCP_CLIENT 68
#define TNA_EDP_HEAD 0x00e0u
#define TNA_EDP_TAIL 0x2b000000u
#define TNA_EDP_STATION 0x2be000ull /* as it lies in memory */
struct tna_filter {
	__u64 length;                              /* 0: none */
	__u64 instructions[TNA_FILTER_LENGTH_MAX]; /* struct sock_filter, as the kernel has them */
};

/* Those of a namespace's packet sockets (probe/packet_filters.bpf.c). */
#define TNA_FILTERS_LISTED 16
struct tna_filter_list {
	__u32 number;
	struct tna_filter filter[TNA_FILTERS_LISTED];
};

/* What was found out about the namespace, by the fast path itself, and the slot table's epoch. */
struct tna_namespace {
	__u64 bridge_hooks[2]; /* the hook lists found harmless: pre-routing, forward */
	__u32 nft_base_seq;    /* rule set generation for which they were */
	__u32 epoch;           /* of the slot table */
	__u32 mirror_complete; /* the mirror holds what Linux knows; else its frames are Linux's */
	__u32 shortest;        /* frame that may leave by any port: for others, the port is to be asked */
	__u32 paused;          /* TNA_CHECKED_*: modules that the self-check does not believe */
	__u32 listening;       /* what known filters may want is Linux's */
	__u32 bridge_rules;    /* the judgement of those for which br_netfilter's settings were found */
	__u32 unused;
	__u64 own_addresses; /* the generation of the routes for which each own address has its own one */
	struct tna_suspicion suspicion;
	struct tna_disagreement disagreement;
	struct tna_filter filter[TNA_FILTERS_MAX]; /* none is known unless `listening` */
};

/* The slot table: ifindex -> slot of a managed port. */
struct tna_port_slot {
	__u32 slot;
	__u32 shortest; /* frame that may leave by it, in bytes; TNA_NO_EGRESS: none may */
};

#define TNA_NO_EGRESS 0xffffffffu
#define TNA_EGRESS_REFUSED 0xfffffffeu /* its driver has refused frames */

/* What a driver has refused, by the port's ifindex. */
struct tna_refusal {
	__u64 frames; /* lost until the fast path knew */
	__u32 error;  /* errno that the driver gave for the first of them */
	__u32 cpu;    /* on which that was */
};

/*
 * The mirror of the bridges' forwarding databases, for kernels that are not read in place. What Linux
 * has announced is written by the controller alone, what the fast path has seen by the fast path alone.
 */
struct tna_station_key {
	__u32 bridge; /* ifindex */
	__u16 vlan;
	__u8 mac[6];
};

#define TNA_STATION_LOCAL 1u    /* the host's own, or not to be trusted: Linux decides */
#define TNA_STATION_STICKY 2u   /* Linux does not move it */
#define TNA_STATION_INACTIVE 4u /* Linux tells somebody when it sends again */

struct tna_station {
	__u32 port; /* ifindex */
	__u16 flags;
	__u16 unused;
	__u32 use; /* index of its struct tna_station_use */
};

/* Not known where: a frame came from elsewhere, from which Linux may not have learnt. */
#define TNA_SEEN_NOWHERE 0xffffffffu

struct tna_station_use {
	__u64 refreshed; /* CLOCK_MONOTONIC_COARSE: when Linux last got a frame of this station */
	__u32 seen_on;   /* ifindex of the port where it has turned up, 0 if only where Linux knows it */
	__u32 unused;
};

/* A port of the watched pipeline, as the controller found it; the reasons are TNA_REASON_*. */
struct tna_watched_port {
	__u32 slot;
	__u32 bridge;         /* ifindex */
	__u16 ingress_reason; /* why its frames are left to Linux, TNA_REASON_COUNT if they are not */
	__u16 egress_reason;  /* the same for frames that would leave by it */
	__u32 max_frame;      /* that may leave by it, in bytes */
	__u8 isolated;
	__u8 learns;      /* Linux learns stations on it */
	__u16 tag_reason; /* why tagged frames from it are left to Linux, TNA_REASON_COUNT if they are not */
	__u16 vlan_protocol; /* network order: the tags that its bridge filters by; 0: it does not */
	__u16 pvid;          /* the VLAN of frames without a tag; 0: none */
	__u64 refresh;       /* nanoseconds after which Linux gets a frame of a station again */
	__u32 min_frame;     /* that may leave by it, in bytes */
	__u32 unused;
};

/*
 * A port's part in each VLAN, two bits for each id: a VLAN's part changes as a whole, however many there
 * are. By slot.
 */
enum tna_vlan_part {
	TNA_VLAN_NONE,   /* none, or its state is closed: Linux drops */
	TNA_VLAN_LEARNS, /* Linux learns the source, and drops */
	TNA_VLAN_TAGGED, /* forwards; frames leave with their tag */
	TNA_VLAN_UNTAGGED,
};

#define TNA_VLANS_IN_WORD 32
#define TNA_VLAN_WORDS 128

struct tna_watched_vlans {
	__u64 parts[TNA_VLAN_WORDS];
};

/* How many VLAN devices lie on a device, in whatever network namespace they are. */
struct tna_vlan_devices {
	__u32 ifindex; /* in: a device of this namespace */
	__u32 found;   /* out: the device was found */
	__u32 count;
};

/* What the probe program finds out for the controller. */
struct tna_probe {
	/* in */
	__u32 ifindex; /* a device of this namespace */
	__u32 vid;     /* a VLAN to look up on that device, a bridge port */
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
	__u32 packed;     /* TNA_CONSTANT_PACKED holds */
	__u32 vlan_known; /* this kernel's bridges know VLANs, as far as types tell */
	__u32 vlan_found;
	__u32 vlan_flags;
	__u32 vlan_state;
	__u32 pvid;
	__u32 vlan_protocol; /* of the bridge */
};

#endif
