/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_COMMON_SETTINGS_H
#define TNA_ROUTE_COMMON_SETTINGS_H

/* What a namespace and its devices are set to, and what of it matters for a packet that is routed. */

#include "guards/hook_list.bpf.h"
#include "kernel/inet_types.h"
#include "base/constant.bpf.h"

/* include/uapi/linux/ip.h: IPV4_DEVCONF_*, which count from 1 */
#define CONF_FORWARDING 0
#define CONF_SEND_REDIRECTS 5
#define CONF_RP_FILTER 7
#define CONF_SRC_VMARK 23

/* include/uapi/linux/xfrm.h: policies are counted as in, out, forward */
#define XFRM_DEFAULT_BLOCK 1

/*
 * Any hook at all, of the families ip and inet; connection tracking and NAT have theirs, too. But for
 * AppArmor's at post-routing, which is in every namespace where it is active: it looks at packets of
 * local sockets only (apparmor_ip_postroute()). And br_netfilter's at pre-routing, which is in every
 * namespace that has had a bridge: it looks at what bridges have handed to iptables (ip_sabotage_in()).
 */
INLINE u64 guard_post_routing(u64 list)
{
	if (!CONSTANT(HOOK_SECURITY))
		return list;
	u64 word = KLOAD(u16, list) ^ 1; /* num_hook_entries */

	COLLECT(word, KLOAD(u64, KADDR(struct nf_hook_entries, list, hooks)) ^ CONSTANT(HOOK_SECURITY));
	return word;
}

INLINE u64 guard_pre_routing(u64 list)
{
	return CONSTANT(BR_NETFILTER) ? hook_list_foreign(list, CONSTANT(HOOK_SABOTAGE)) : list;
}

INLINE u64 guard_inet_hooks(struct net *net)
{
	u64 word = guard_pre_routing(KGET(u64, net, nf.hooks_ipv4[NF_INET_PRE_ROUTING]));
	u64 post = KGET(u64, net, nf.hooks_ipv4[NF_INET_POST_ROUTING]);

	COLLECT(word, KGET(u64, net, nf.hooks_ipv4[NF_INET_FORWARD]));
	return word | guard_post_routing(post);
}

/* The same of the families ip6 and inet. */
INLINE u64 guard_inet6_hooks(struct net *net)
{
	u64 word = guard_pre_routing(KGET(u64, net, nf.hooks_ipv6[NF_INET_PRE_ROUTING]));
	u64 post = KGET(u64, net, nf.hooks_ipv6[NF_INET_POST_ROUTING]);

	COLLECT(word, KGET(u64, net, nf.hooks_ipv6[NF_INET_FORWARD]));
	return word | guard_post_routing(post);
}

/* xfrm4_policy_check(), xfrm4_route_forward() and the same of IPv6: policies of out and forward, or a
 * default. */
INLINE u64 guard_xfrm(struct net *net)
{
	if (!bpf_core_field_exists(struct net, xfrm))
		return 0;
	u64 word = KSTRADDLE(struct net, net, xfrm.policy_count, 4);

	COLLECT(word,
		KGET(u32, net, xfrm.policy_default) & (XFRM_DEFAULT_BLOCK << 8 | XFRM_DEFAULT_BLOCK << 16));
	return word;
}

INLINE u64 inet_device(struct net_device *dev)
{
	return KGET(u64, dev, ip_ptr);
}

INLINE u64 inet_not_forwarding(struct in_device *inet)
{
	return !KGET(u32, inet, cnf.data[CONF_FORWARDING]);
}

/* The device's own setting, and above it the one of all devices: the larger one is in use. */
INLINE u64 inet_reverse_path(struct net *net, struct in_device *inet)
{
	struct ipv4_devconf *all = KOBJ(struct ipv4_devconf, KGET(u64, net, ipv4.devconf_all));

	return (u64)KGET(u32, all, data[CONF_RP_FILTER]) << 32 | KGET(u32, inet, cnf.data[CONF_RP_FILTER]);
}

/*
 * Whether Linux may tell senders of a better way where packets leave by the device that they came by
 * (IN_DEV_TX_REDIRECTS()). More than this decides (__mkroute_input()): whether the sender is a neighbour, and
 * what it has been told before. Where it is told, that also counts against errors that it may be sent
 * (icmpv4_xrlim_allow()), even if NAT drops what it is told. So this alone is certain.
 */
INLINE u64 inet_redirects(struct net *net, struct in_device *inet)
{
	struct ipv4_devconf *all = KOBJ(struct ipv4_devconf, KGET(u64, net, ipv4.devconf_all));

	return KGET(u32, all, data[CONF_SEND_REDIRECTS]) | KGET(u32, inet, cnf.data[CONF_SEND_REDIRECTS]);
}

/* Whether the way back is looked for by packets' marks, too (IN_DEV_SRC_VMARK()). */
INLINE u64 inet_marks_sources(struct net *net, struct in_device *inet)
{
	struct ipv4_devconf *all = KOBJ(struct ipv4_devconf, KGET(u64, net, ipv4.devconf_all));

	return KGET(u32, all, data[CONF_SRC_VMARK]) | KGET(u32, inet, cnf.data[CONF_SRC_VMARK]);
}

/* The filter that those two make: 0 none, 1 strict, anything else loose. */
INLINE s32 reverse_path_filter(u64 settings)
{
	s32 all = settings >> 32, own = settings;

	return all > own ? all : own;
}

INLINE u64 inet6_device(struct net_device *dev)
{
	return KGET(u64, dev, ip6_ptr);
}

/*
 * Whether there are or were routing rules of its own. Looked at for each packet: before 6.10 a rule of IPv6
 * does not move the generation of the routes.
 */
INLINE u64 inet6_rules(struct net *net)
{
	return bpf_core_field_exists(struct net, ipv6.fib6_has_custom_rules)
		       ? KGET(u8, net, ipv6.fib6_has_custom_rules)
		       : 0;
}

/* ip6_rcv_core(): what a port does not take in at all. */
INLINE u64 inet6_disabled(u64 inet6)
{
	return !inet6 | KLOAD(u32, KADDR(struct inet6_dev, inet6, cnf.disable_ipv6));
}

INLINE struct ipv6_devconf *inet6_all(struct net *net)
{
	return KOBJ(struct ipv6_devconf, KGET(u64, net, ipv6.devconf_all));
}

/* ip6_forward() asks for all ports together, a port's own setting is about its being a router or a host. */
INLINE u64 inet6_not_forwarding(struct ipv6_devconf *all)
{
	return !KGET(u32, all, forwarding);
}

/* Linux may answer for the destination (ip6_forward_proxy_check()). */
INLINE u64 inet6_proxy(struct ipv6_devconf *all)
{
	return KGET(u32, all, proxy_ndp);
}

/* The MAC address that frames for this device carry. */
INLINE u64 device_address(struct net_device *dev)
{
	return KLOAD(u64, KGET(u64, dev, dev_addr)) & MAC_MASK;
}

#endif
