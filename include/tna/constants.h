/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_CONSTANTS_H
#define TNA_CONSTANTS_H

/*
 * The fast-path modules, in the order in which frames meet them.
 *
 * X(constant, name): CONSTANT(constant) says that a profile has the module, nameManifest() is what user space
 * knows of it (controller/assemble/modules/name.cpp).
 */
#define TNA_FAST_PATH_MODULES(X)                                                                             \
	X(FLOWTABLE, flowtable)                                                                              \
	X(BRIDGE, bridge)                                                                                    \
	X(ROUTE, route)

/*
 * The constants that make a profile out of the pipeline. Each is one 64-bit immediate in the program's
 * code, marked in its upper half; the controller writes the real value in its place before loading. A
 * constant in a read-only map would cost a load for each use, for each frame.
 */
enum tna_constant {
	TNA_CONSTANT_VLAN, /* EtherType (network order) of the tags a bridge filters by; 0: it does not */
	TNA_CONSTANT_VETH, /* frames may still be a local sender's socket buffer */
	TNA_CONSTANT_BR_NETFILTER,  /* br_netfilter is present */
	TNA_CONSTANT_PACKED,        /* this kernel has fields side by side that one load can read */
	TNA_CONSTANT_FLOWS_PER_CPU, /* a power of two */
	TNA_CONSTANT_FLOWS_TOTAL,   /* of all CPUs */
	TNA_CONSTANT_NET,           /* struct net * of the namespace */
	TNA_CONSTANT_BRNF,          /* struct brnf_net *, 0 without br_netfilter */
	TNA_CONSTANT_HOOK_PRE,      /* br_netfilter's hook functions, 0 where it is not there */
	TNA_CONSTANT_HOOK_FORWARD,
	TNA_CONSTANT_HOOK_POST,
	TNA_CONSTANT_HOOK_SECURITY,   /* AppArmor's hook function, 0 where it is not there */
	TNA_CONSTANT_HOOK_LOCAL_IN,   /* br_netfilter's at local-in, where it has one */
	TNA_CONSTANT_HOOK_SABOTAGE,   /* br_netfilter's at pre-routing of either protocol */
	TNA_CONSTANT_HOOK_FLOWTABLE,  /* those of flowtables at ingress, 0 where they are not there: family
					 inet */
	TNA_CONSTANT_HOOK_FLOWTABLE4, /* ... ip */
	TNA_CONSTANT_HOOK_FLOWTABLE6, /* ... ip6 */
	TNA_CONSTANT_STACKED, /* packets may be routed to and from devices on top of ports: bridges, ... */
	TNA_CONSTANT_VLAN_DEVICES,      /* ... and VLAN devices */
	TNA_CONSTANT_VLAN_STACKS,       /* ... and VLAN devices on those: frames may have two tags */
	TNA_CONSTANT_BRIDGE_VLANS,      /* ... and bridges that filter VLANs, and VLAN devices on bridges */
	TNA_CONSTANT_STATION,           /* MAC address of the bridge for which packets are routed */
	TNA_CONSTANT_SINGLE_BUFFER,     /* this kernel's frames lie in one buffer each (before 5.18) */
	TNA_CONSTANT_MODULES,           /* custom modules after a decision */
	TNA_CONSTANT_MODULES_BRIDGE,    /* custom modules after the bridge's decision */
	TNA_CONSTANT_MODULES_ROUTE,     /* the same after routing's */
	TNA_CONSTANT_MODULES_CHANGE,    /* one of them may have changed the frame */
	TNA_CONSTANT_MODULES_ASK,       /* all that is decided about a bridged frame may be asked for */
	TNA_CONSTANT_DESTINATION_LINES, /* per CPU, of four addresses each that have many routes; 0: none */
	TNA_CONSTANT_DESTINATION_LINES_TOTAL, /* of all CPUs */
	TNA_CONSTANT_REFRESH,      /* jiffies: so old may the entry of a station in use be at most */
	TNA_CONSTANT_RULES,        /* packets pass rule sets: what becomes of their flows is learnt */
	TNA_CONSTANT_BRIDGE_RULES, /* bridges have rules of their own: what passes those is learnt */
	TNA_CONSTANT_TCX_BEHIND,   /* at XDP: the port has a program of ours at tcx as well, */
	TNA_CONSTANT_TCX_ENTRY,    /* ... and its tag, as the kernel makes it from its instructions */
	TNA_CONSTANT_COUNTS_LEFT, /* what is left to Linux is counted, as no program of ours behind does it */
	TNA_CONSTANT_SELF_CHECK,  /* one packet in so many is decided twice; 0: none; a power of two */
#define TNA_MODULE_CONSTANT(constant, name) TNA_CONSTANT_##constant,
	/* in the profiles that have the module */
	TNA_FAST_PATH_MODULES(TNA_MODULE_CONSTANT) TNA_CONSTANT_COUNT
#undef TNA_MODULE_CONSTANT
};

#define TNA_CONSTANT_MARK 0x544e4100u

#endif
