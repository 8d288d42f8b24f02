/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_KERNEL_PACKET_SOCKET_H
#define TNA_KERNEL_PACKET_SOCKET_H

/* A packet socket's filter. */

#include "kernel/access.h"
#include "kernel/packet_socket_types.h"

#define SOCKET_RAW 3 /* its filter sees frames from the Ethernet header on */

/* As it was attached, by address; 0: it has none, or no classic one. */
INLINE u64 packet_filter_of(u64 socket)
{
	u64 filter = KLOAD(u64, KADDR(struct sock___of_list, socket, sk_filter));
	u64 program = KLOAD(u64, KADDR(struct sk_filter, filter, prog));

	return KLOAD(u64, KADDR(struct bpf_prog___of_socket, program, orig_prog));
}

INLINE u32 packet_filter_length(u64 filter)
{
	return KLOAD(u16, KADDR(struct sock_fprog_kern, filter, len));
}

INLINE u64 packet_filter_code(u64 filter)
{
	return KLOAD(u64, KADDR(struct sock_fprog_kern, filter, filter));
}

INLINE int packet_socket_is_raw(u64 socket)
{
	return KLOAD(u16, KADDR(struct sock___of_list, socket, sk_type)) == SOCKET_RAW;
}

#endif
