/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_CAPTURE_H
#define TNA_GUARD_CAPTURE_H

/*
 * Somebody captures: packet sockets for all protocols hang in the namespace's list (all devices,
 * since 6.15; before that in a global one) or in a device's list. Linux delivers to them in
 * __netif_receive_skb_core() and dev_queue_xmit_nit(), so all three lists must be empty, but for sockets
 * whose filters want nothing of what is forwarded (packet_filter.bpf.h).
 *
 * Nothing but packet sockets enters these lists, so a namespace without any packet socket needs no
 * look at them.
 */

#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>

#include "guards/packet_filter.bpf.h"

/* Such sockets of one device, or of one namespace; with more, its frames are Linux's. */
#define CAPTURES_MAX 16
#define PACKET_SOCKETS_MAX 64

INLINE u64 guard_capture_possible(struct net *net)
{
	return KGET(u64, net, packet.sklist.first);
}

INLINE u32 capture_is_of_ip(u32 protocol)
{
	return protocol == bpf_htons(ETH_P_IP) || protocol == bpf_htons(ETH_P_IPV6);
}

/*
 * The global lists are out of reach. But whoever is in them for this namespace has a packet socket here, for
 * no device; and says which protocol before the socket gets there (packet_do_bind()). One for LLDP, ARP,
 * EAPOL sees nothing of what is forwarded; and one that only sends has no protocol.
 */
APART u64 capture_of_all_devices(u64 first)
{
	u64 node = first;
	struct search found;

	if (!bpf_core_field_exists(struct packet_sock, prot_hook))
		return first;
	SEARCH (found, PACKET_SOCKETS_MAX) {
		if (!node)
			CONCLUDE(found, search_none());
		u64 hook = KADDR(struct packet_sock,
				 node - bpf_core_field_offset(struct packet_sock, sk.__sk_common.skc_node),
				 prot_hook);
		u32 protocol = KLOAD(u16, KADDR(struct packet_type, hook, type));

		if (!KLOAD(u64, KADDR(struct packet_type, hook, dev)) &&
		    (protocol == bpf_htons(ETH_P_ALL) || capture_is_of_ip(protocol)) &&
		    packet_type_listens(hook))
			CONCLUDE(found, search_found(node));
		node = KLOAD(u64, KADDR(struct hlist_node, node, next));
	}
	return !search_surely_none(found);
}

/* Whether somebody in a list wants packets that are forwarded. `all`: the protocol does not matter; else
 * Linux compares that of each with the frame's (deliver_ptype_list_skb()). */
APART u64 capture_in(u64 list, u32 all)
{
	u64 at = KLOAD(u64, KADDR(struct list_head, list, next));
	struct search found;

	SEARCH (found, CAPTURES_MAX) {
		if (at == list)
			CONCLUDE(found, search_none());
		u64 one = at - bpf_core_field_offset(struct packet_type, list);

		if ((all || capture_is_of_ip(KLOAD(u16, KADDR(struct packet_type, one, type)))) &&
		    packet_type_listens(one))
			CONCLUDE(found, search_found(one));
		at = KLOAD(u64, KADDR(struct list_head, at, next));
	}
	return !search_surely_none(found);
}

INLINE u64 guard_capture_namespace(u64 address, struct net *net)
{
	u64 list = KADDR(struct net, address, ptype_all);

	if (!bpf_core_field_exists(struct net, ptype_all))
		return capture_of_all_devices(guard_capture_possible(net));
	return KGET(u64, net, ptype_all.next) ^ list ? capture_in(list, 1) : 0;
}

INLINE u64 guard_capture_device(u64 address, struct net_device *dev)
{
	u64 list = KADDR(struct net_device, address, ptype_all);

	return KGET(u64, dev, ptype_all.next) ^ list ? capture_in(list, 1) : 0;
}

/* The same apart: for what is evaluated once, and then remembered. */
APART u64 capture_of_device(u64 device)
{
	return guard_capture_device(device, KOBJ(struct net_device, device));
}

APART u64 capture_of_namespace(u64 net)
{
	return guard_capture_namespace(net, KOBJ(struct net, net));
}

/*
 * Packet sockets for one protocol hang in lists of their own, of the namespace (where there is one) and
 * of a device; they see what a device receives, unless the bridge took it. What is asked about is a packet of
 * IP.
 */
INLINE u64 guard_capture_specific_at(u64 address, struct net_device *dev)
{
	u64 list = KADDR(struct net_device, address, ptype_specific);

	return KGET(u64, dev, ptype_specific.next) ^ list ? capture_in(list, 0) : 0;
}

INLINE u64 guard_capture_specific(u64 net_address, u64 address, struct net_device *dev)
{
	u64 word = guard_capture_specific_at(address, dev);

	if (bpf_core_field_exists(struct net, ptype_specific)) {
		u64 list = KADDR(struct net, net_address, ptype_specific);

		if (KLOAD(u64, list) ^ list)
			word |= capture_in(list, 0);
	}
	return word;
}

#endif
