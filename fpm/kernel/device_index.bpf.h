/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_DEVICE_INDEX_H
#define TNA_KERNEL_DEVICE_INDEX_H

/* The devices of a namespace by their index. Who includes this may define how the kernel's memory is read,
 * and how long a chain is looked at: of a device that is not found nothing is believed. */

#include "kernel/loop.bpf.h"

/* net/core/dev.c: NETDEV_HASHENTRIES */
#define DEVICE_HASH_ENTRIES 256
#ifndef DEVICE_READ
#define DEVICE_READ(T, address) KLOAD(T, address)
#define DEVICE_CHAIN_MAX 64 /* some 16,000 devices */
#endif

INLINE struct search find_device(u64 net, u32 ifindex)
{
	u64 node = DEVICE_READ(u64, DEVICE_READ(u64, KADDR(struct net, net, dev_index_head)) +
					    8ULL * (ifindex & (DEVICE_HASH_ENTRIES - 1)));
	struct search search;

	SEARCH_SHORT (search, DEVICE_CHAIN_MAX) {
		if (!node)
			CONCLUDE(search, search_none());
		u64 device = node - bpf_core_field_offset(struct net_device, index_hlist);

		if (DEVICE_READ(u32, KADDR(struct net_device, device, ifindex)) == ifindex)
			CONCLUDE(search, search_found(device));
		node = DEVICE_READ(u64, node);
	}
	return search;
}

#endif
