/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_DEVICE_H
#define TNA_KERNEL_DEVICE_H

/* What a device's driver keeps behind it. */

#include "kernel/access.h"

/* Since 6.9 it lies at a known place; before, it was aligned behind the device (netdev_priv()). */
INLINE u64 device_private(u64 device)
{
	return device + (bpf_core_field_exists(struct net_device, priv)
				 ? bpf_core_field_offset(struct net_device, priv)
				 : (bpf_core_type_size(struct net_device) + 31) & ~31u);
}

#endif
