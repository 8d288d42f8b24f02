/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_NAMESPACE_H
#define TNA_GUARD_NAMESPACE_H

/* What is attached to a device survives its device's move to another namespace; what it accelerates does not.
 */

#include "kernel/access.h"

INLINE u64 guard_namespace(struct net_device *dev, u64 home)
{
	return KGET(u64, dev, nd_net.net) ^ home;
}

#endif
