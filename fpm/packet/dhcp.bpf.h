/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_PACKET_DHCP_H
#define TNA_PACKET_DHCP_H

/* What DHCP clients and servers listen to (see guards/packet_filter.bpf.h). */

#include <tna/fastpath.h>

#include <bpf/bpf_endian.h>

#include "kernel/access.h"

/* A port of UDP, in network order. */
INLINE int is_dhcp(u32 port)
{
	return port == bpf_htons(TNA_DHCP_SERVER) || port == bpf_htons(TNA_DHCP_CLIENT);
}

#endif
