/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_GENERIC_XDP_H
#define TNA_GUARD_GENERIC_XDP_H

#include "kernel/access.h"

/* A program that runs where Linux receives on a device without XDP of its own (do_xdp_generic()). */
INLINE u64 guard_generic_xdp(u64 device)
{
	return KGET(u64, KOBJ(struct net_device, device), xdp_prog);
}

#endif
