/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_FOR_ARRIVAL_H
#define TNA_CONNECTION_FOR_ARRIVAL_H

#include "kernel/inet_types.h"
#include "kernel/loop.bpf.h"

#define ARRIVAL_ADDRESSES_MAX 64

/*
 * Whether a packet is for an address of the device that it came by. If it is for another one of this host, or
 * for one that only the translation knows, it is not; nor if there are too many to say.
 */
APART u64 for_arrival(u64 device, u32 destination)
{
	u64 inet = KLOAD(u64, KADDR(struct net_device, device, ip_ptr));
	u64 address = inet ? KLOAD(u64, KADDR(struct in_device, inet, ifa_list)) : 0;
	struct search own;

	SEARCH (own, ARRIVAL_ADDRESSES_MAX) {
		if (!address)
			CONCLUDE(own, search_none());
		if (KLOAD(u32, KADDR(struct in_ifaddr, address, ifa_local)) == destination)
			CONCLUDE(own, search_found(address));
		address = KLOAD(u64, KADDR(struct in_ifaddr, address, ifa_next));
	}
	return found_or_linux(own);
}

#endif
