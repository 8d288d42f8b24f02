/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_FLOWTABLE_WAY_H
#define TNA_FLOWTABLE_WAY_H

/* What is known of a packet on its way through a flowtable, and what flowtables have to do with a packet at
 * all. */

#include "base/constant.bpf.h"
#include "base/reason.bpf.h"
#include "kernel/flowtable_types.h"
#include "packet/ipv4.bpf.h"
#include "packet/ipv6.bpf.h"

/* The kernel has flowtables, and lets XDP look into them (since 6.11): both are told by the module that has
 * them. */
#define FLOWTABLE_KNOWN                                                                                      \
	(bpf_core_type_exists(struct bpf_flowtable_opts) && bpf_core_type_exists(struct flow_offload))

#define FLOW_INET 2           /* AF_INET */
#define FLOW_INET6 10         /* AF_INET6 */
#define IPV4_FRAGMENT 0xff3fu /* more fragments, or an offset, as they lie in the header */
#define TCP_HEADER_LEN 20
#define UDP_HEADER_LEN 8
#define TCP_TURNS 0x07u /* FIN, SYN, RST */

struct flow_way {
	u64 device;      /* by which the packet comes in */
	u64 entry;       /* struct flow_offload_tuple_rhash *, of its direction */
	u64 flow;        /* struct flow_offload * */
	u64 egress;      /* struct net_device * */
	u64 destination; /* MAC addresses */
	u64 source;
	u32 family;
	u32 protocol;
	u32 length; /* of the frame: flowtables cut nothing off */
	u32 in;     /* the ports' places */
	u32 out;
};

/* A frame up to the ports: the IP header has no options. */
#define FLOW_FRAME(family) (ETH_HLEN + ((family) == FLOW_INET ? IPV4_HEADER_LEN : IPV6_HEADER_LEN))

/* nf_flow_tuple_ip(), but for fragments and the transport header. */
INLINE u32 flow_parse4(u8 *data, struct flow_way *way)
{
	BECAUSE(*(data + ETH_HLEN) != IPV4_START_PLAIN, IP_HEADER);
	BECAUSE(*(u16 *)(data + ETH_HLEN + 6) & IPV4_FRAGMENT, FLOW_KIND);
	BECAUSE(*(data + ETH_HLEN + 8) <= 1, TTL);
	way->family = FLOW_INET;
	way->protocol = *(data + ETH_HLEN + 9);
	return REASON_NONE;
}

/* nf_flow_tuple_ipv6(), in the same way. */
INLINE u32 flow_parse6(u8 *data, struct flow_way *way)
{
	BECAUSE(*(data + ETH_HLEN + 7) <= 1, TTL);
	way->family = FLOW_INET6;
	way->protocol = *(data + ETH_HLEN + 6);
	return REASON_NONE;
}

/* Whether the packet is one that flowtables forward, and for this port's own MAC address, for which Linux
 * does not ask. */
NOINLINE u32 flow_parse(hook_context *ctx, struct flow_way *way, u64 station)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	BECAUSE(data + PACKET_MIN > end, SHORT);
	BECAUSE((*(u64 *)data & MAC_MASK) != station, OTHER_STATION);
	u32 protocol = *(u16 *)(data + 2 * ETH_ALEN);

	way->length = hook_bytes(ctx, data, end);
	if (protocol == bpf_htons(ETH_P_IP))
		UNLESS_BECAUSE(flow_parse4(data, way));
	else if (protocol == bpf_htons(ETH_P_IPV6))
		UNLESS_BECAUSE(flow_parse6(data, way));
	else
		return TNA_REASON_NOT_IP;
	BECAUSE(way->protocol != PROTOCOL_TCP && way->protocol != PROTOCOL_UDP, FLOW_KIND);
	data += way->family == FLOW_INET ? FLOW_FRAME(FLOW_INET) : FLOW_FRAME(FLOW_INET6);
	BECAUSE(data + UDP_HEADER_LEN > end, SHORT);
	if (way->protocol == PROTOCOL_UDP)
		return REASON_NONE;
	BECAUSE(data + TCP_HEADER_LEN > end, SHORT);
	BECAUSE(*(data + 13) & TCP_TURNS, FLOW_KIND); /* nf_flow_state_check() */
	return REASON_NONE;
}

#endif
