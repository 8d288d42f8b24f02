/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_NETDEV_HOOK_H
#define TNA_GUARD_NETDEV_HOOK_H

/* Netfilter's netdev family: nf_ingress() of the ingress port, nf_hook_egress() of the egress port. */

#include "kernel/access.h"

INLINE u64 guard_netdev_ingress(struct net_device *dev)
{
	return KGET(u64, dev, nf_hooks_ingress);
}

INLINE u64 guard_netdev_egress(struct net_device *dev)
{
	return KGET(u64, dev, nf_hooks_egress);
}

#endif
