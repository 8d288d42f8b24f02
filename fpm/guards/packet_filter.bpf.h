/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_PACKET_FILTER_H
#define TNA_GUARD_PACKET_FILTER_H

/*
 * Filters of packet sockets that want nothing of what is forwarded: those of DHCP clients and servers, and of
 * who listens to group addresses (LLDP), which they do for as long as they run. The controller has read what
 * such a filter does, instruction by instruction (assemble/packet_filter.hpp), and left it in the namespace's
 * state. Here only the instructions are compared, for every packet: a socket may get another filter at any
 * time, and nobody tells.
 *
 * A packet that one of them may want is Linux's from the beginning (filters_may_want()).
 */

#include <linux/if_ether.h>

#include <bpf/bpf_endian.h>

#include "base/slots.bpf.h"
#include "kernel/loop.bpf.h"
#include "kernel/packet_socket.bpf.h"
#include "packet/dhcp.bpf.h"
#include "packet/hook.bpf.h"

#define PROTO_PACKET 0x54454b434150ULL /* the name of packet sockets' protocol: "PACKET" */
#define FILTERED_TAGS 2

/* The packet socket that has put this into a list; 0: somebody else has, such as a group of sockets (fanout).
 */
INLINE u64 packet_socket_of(u64 type)
{
	u64 socket = KLOAD(u64, KADDR(struct packet_type, type, af_packet_priv));
	u64 proto = KLOAD(u64, KADDR(struct sock___of_list, socket, __sk_common.skc_prot));

	return KLOAD(u64, KADDR(struct proto, proto, name)) == PROTO_PACKET ? socket : 0;
}

/* No branches but one: in programs with custom modules, each is followed for every call. */
APART u64 packet_filter_differs(u64 code, u64 length, u32 index)
{
	const struct tna_filter *known = &home.filter[index & (TNA_FILTERS_MAX - 1)];
	u64 word = 0;

	if (known->length != length)
		return 1;
#pragma clang loop unroll(disable)
	EACH (at, TNA_FILTER_LENGTH_MAX) {
		u64 counts = (u64)((s64)((u64)at - length) >> 63);

		COLLECT(word, (KLOAD(u64, code + 8 * at) ^ known->instructions[at]) & counts);
	}
	return word;
}

/* Whether somebody who is in a list may want packets that are forwarded. */
APART u64 packet_type_listens(u64 type)
{
	u64 socket = packet_socket_of(type), filter = packet_filter_of(socket);
	u64 length = packet_filter_length(filter), code = packet_filter_code(filter);

	if (!socket || !length || !packet_socket_is_raw(socket))
		return 1;
#pragma clang loop unroll(disable)
	EACH (index, TNA_FILTERS_MAX) {
		if (!packet_filter_differs(code, length, index))
			return 0;
	}
	return 1;
}

/*
 * Filters see a frame as it comes, without the tag that Linux takes out of it, or both of those; and one that
 * leaves, which differs in tags and addresses only. Translated ports are not learnt if they are these.
 */
APART int filters_may_want(hook_context *ctx)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);
	u32 protocol;

	if (data + ETH_HLEN + 20 > end)
		return 1;
	if ((*(u64 *)data & MAC_MASK) == TNA_EDP_STATION)
		return 1;
	protocol = *(u16 *)(data + 2 * ETH_ALEN);
	EACH (tag, FILTERED_TAGS) {
		if (protocol != bpf_htons(ETH_P_8021Q) && protocol != bpf_htons(ETH_P_8021AD))
			break;
		data += 4;
		if (data + ETH_HLEN + 20 > end)
			return 1;
		protocol = *(u16 *)(data + 2 * ETH_ALEN);
	}
	if (protocol != bpf_htons(ETH_P_IP))
		return protocol != bpf_htons(ETH_P_IPV6);
	if (data[ETH_HLEN + 9] != 17 /* UDP */)
		return 0;
	if (data[ETH_HLEN] != 0x45 || *(u16 *)(data + ETH_HLEN + 6) & bpf_htons(0x1fff) ||
	    data + ETH_HLEN + 24 > end)
		return 1;
	return is_dhcp(*(u16 *)(data + ETH_HLEN + 22));
}

#endif
