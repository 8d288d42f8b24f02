/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_VRF_H
#define TNA_GUARD_VRF_H

/* What comes by a device of a VRF is routed by other tables. The device says so a moment before anything else
 * does (do_vrf_add_slave()). */

#include "kernel/access.h"

INLINE u64 guard_vrf(struct net_device *dev)
{
	return BPF_CORE_READ_BITFIELD(dev, priv_flags) & IFF_L3MDEV_SLAVE;
}

#endif
