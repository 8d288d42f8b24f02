/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_DEVICE_INDEX_H
#define TNA_KERNEL_DEVICE_INDEX_H

/* The devices of a namespace by their index. */

#include "kernel/loop.bpf.h"

/* net/core/dev.c: NETDEV_HASHENTRIES */
#define DEVICE_HASH_ENTRIES 256
#define DEVICE_CHAIN_MAX 64 /* some 16,000 devices; of one that is not found nothing is believed */

INLINE struct search find_device(u64 net, u32 ifindex)
{
	u64 node = KLOAD(u64, KLOAD(u64, KADDR(struct net, net, dev_index_head)) +
				      8ULL * (ifindex & (DEVICE_HASH_ENTRIES - 1)));
	struct search search;

	SEARCH_SHORT (search, DEVICE_CHAIN_MAX) {
		if (!node)
			CONCLUDE(search, search_none());
		u64 device = node - bpf_core_field_offset(struct net_device, index_hlist);

		if (KLOAD(u32, KADDR(struct net_device, device, ifindex)) == ifindex)
			CONCLUDE(search, search_found(device));
		node = KLOAD(u64, node);
	}
	return search;
}

#endif
