/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_FLOWTABLE_DEPARTURE_H
#define TNA_FLOWTABLE_DEPARTURE_H

/* Where a flow's packets go: the route that it remembers, the neighbour, and what they meet as they leave. */

#include "base/ports.bpf.h"
#include "flowtable/way.bpf.h"
#include "guards/capture.bpf.h"
#include "guards/egress.bpf.h"
#include "guards/netdev_hook.bpf.h"
#include "guards/qdisc.bpf.h"
#include "guards/tc.bpf.h"
#include "route/common/neighbour.bpf.h"
#include "route/common/settings.bpf.h"

/* dst_check() of IPv4 (ipv4_dst_check()). */
INLINE u32 flow_route4_stale(u64 route)
{
	BECAUSE(KLOAD(u16, KADDR(struct rtable, route, dst.obsolete)) != DST_OBSOLETE_FORCE_CHK,
		FLOWTABLE_STALE);
	BECAUSE(KLOAD(u32, KADDR(struct rtable, route, rt_genid)) !=
			KGET(u32, KOBJ(struct net, CONSTANT(NET)), ipv4.rt_genid.counter),
		FLOWTABLE_STALE);
	return REASON_NONE;
}

/* Whether what a route of IPv6 was made from has gone, or another one has come beside it since
 * (fib6_get_cookie_safe()). */
INLINE int flow_route6_moved(u64 from, u32 cookie)
{
	u64 node = from ? KLOAD(u64, KADDR(struct fib6_info, from, fib6_node)) : 0;

	return !node || KLOAD(u32, KADDR(struct fib6_node, node, fn_sernum)) != cookie;
}

/* The same of IPv6 (ip6_dst_check()), whose two ways are taken together. Routes that expire are Linux's. */
INLINE u32 flow_route6_stale(u64 route, u32 cookie)
{
	u64 from = KLOAD(u64, KADDR(struct rt6_info, route, from));
	u32 flags = KLOAD(u32, KADDR(struct fib6_info, from, fib6_flags));

	flags |= KLOAD(u32, KADDR(struct rt6_info, route, rt6i_flags));
	BECAUSE(KLOAD(u16, KADDR(struct rt6_info, route, dst.obsolete)) != DST_OBSOLETE_FORCE_CHK,
		FLOWTABLE_STALE);
	BECAUSE(flow_route6_moved(from, cookie), FLOWTABLE_STALE);
	BECAUSE(flags & (RTF_EXPIRES | RTF_CACHE), FLOWTABLE_SPECIAL);
	BECAUSE(KLOAD(u32, KADDR(struct rt6_info, route, sernum)), FLOWTABLE_SPECIAL);
	return REASON_NONE;
}

/* The source of the other direction, to which packets go that have no gateway: after what is put in. */
INLINE u64 flow_far_end(const struct flow_way *way, u32 direction)
{
	u64 other = KADDR(struct flow_offload, way->flow, tuplehash) +
		    (direction ^ 1) * bpf_core_type_size(struct flow_offload_tuple_rhash);

	return KADDR(struct flow_offload_tuple_rhash, other, tuple.src_v6);
}

/* The neighbour, which must be known: Linux asks for others (neigh_xmit()). */
INLINE u32 flow_neighbour4(struct flow_way *way, u64 route, u32 direction)
{
	u32 family = KLOAD(u8, KADDR(struct rtable, route, rt_gw_family)), hop;
	u64 neighbour;

	BECAUSE(family && family != FLOW_INET, FLOWTABLE_SPECIAL);
	hop = family ? KLOAD(u32, KADDR(struct rtable, route, rt_gw4))
		     : KLOAD(u32, flow_far_end(way, direction));
	SOUGHT(neighbour, neighbour_find(way->egress, hop), NEIGHBOUR);
	BECAUSE(neighbour_gone(KOBJ(struct neighbour, neighbour), way->egress, hop), NEIGHBOUR);
	way->destination = neighbour_address(neighbour) & MAC_MASK;
	return REASON_NONE;
}

INLINE u32 flow_neighbour6(struct flow_way *way, u64 route, u32 direction)
{
	u64 inet6 = inet6_device(KOBJ(struct net_device, way->egress)), hop, neighbour;

	hop = KLOAD(u32, KADDR(struct rt6_info, route, rt6i_flags)) & RTF_GATEWAY
		      ? KADDR(struct rt6_info, route, rt6i_gateway)
		      : flow_far_end(way, direction);
	BECAUSE(!inet6, NEIGHBOUR);
	SOUGHT(neighbour, neighbour6_find(inet6, way->egress, KLOAD(u64, hop), KLOAD(u64, hop + 8)),
	       NEIGHBOUR);
	BECAUSE(neighbour_unfit(KOBJ(struct neighbour, neighbour), way->egress), NEIGHBOUR);
	way->destination = neighbour_address(neighbour) & MAC_MASK;
	return REASON_NONE;
}

/* What Linux would compare and look up for a packet whose flow has been found. */
NOINLINE u32 flow_route(struct flow_way *way)
{
	u64 address = KADDR(struct flow_offload_tuple_rhash, way->entry, tuple);
	struct flow_offload_tuple *tuple = KOBJ(struct flow_offload_tuple, address);
	u32 direction = BPF_CORE_READ_BITFIELD(tuple, dir);
	u64 route = KGET(u64, tuple, dst_cache);

	BECAUSE(direction > 1, FLOWTABLE_SPECIAL);
	way->flow = way->entry - bpf_core_field_offset(struct flow_offload, tuplehash) -
		    direction * bpf_core_type_size(struct flow_offload_tuple_rhash);
	BECAUSE(BPF_CORE_READ_BITFIELD(tuple, xmit_type) !=
			bpf_core_enum_value(enum flow_offload_xmit_type, FLOW_OFFLOAD_XMIT_NEIGH),
		FLOWTABLE_SPECIAL);
	BECAUSE(BPF_CORE_READ_BITFIELD(tuple, encap_num), FLOWTABLE_SPECIAL);
	BECAUSE(way->length - ETH_HLEN > KGET(u16, tuple, mtu),
		ROUTE_MTU); /* with what lies behind the packet */
	way->egress = KLOAD(u64, KADDR(struct rtable, route, dst.dev));
	if (way->family == FLOW_INET) {
		UNLESS_BECAUSE(flow_route4_stale(route));
		UNLESS_BECAUSE(flow_neighbour4(way, route, direction));
	} else {
		UNLESS_BECAUSE(flow_route6_stale(route, KGET(u32, tuple, dst_cookie)));
		UNLESS_BECAUSE(flow_neighbour6(way, route, direction));
	}
	BECAUSE(!way->destination, NEIGHBOUR); /* it is being changed */
	BECAUSE(neighbour_is_group(way->destination), MULTICAST);
	way->source = device_address(KOBJ(struct net_device, way->egress));
	return REASON_NONE;
}

/* The tuple of the flow's other direction. */
INLINE u64 flow_other_direction(const struct flow_way *way)
{
	u64 size = bpf_core_type_size(struct flow_offload_tuple_rhash);
	u64 both = 2 * KADDR(struct flow_offload, way->flow, tuplehash) + size;

	return KADDR(struct flow_offload_tuple_rhash, both - way->entry, tuple);
}

/* Filters of packet sockets may want it as it leaves: translated, it is for where the others come from. */
INLINE int flow_is_heard(const struct flow_way *way)
{
	u64 port = KADDR(struct flow_offload_tuple, flow_other_direction(way), src_port);

	return home.listening && way->protocol == PROTOCOL_UDP && is_dhcp(KLOAD(u16, port));
}

/* What it meets where it leaves. */
NOINLINE u32 flow_departure(struct flow_way *way)
{
	struct net_device *egress = KOBJ(struct net_device, way->egress);

	BECAUSE(guard_namespace(egress, CONSTANT(NET)), NAMESPACE);
	BECAUSE(guard_capture_device(way->egress, egress), CAPTURE);
	BECAUSE(flow_is_heard(way), CAPTURE);
	BECAUSE(guard_tc_entry_busy(guard_tc_egress(egress)), TC);
	BECAUSE(guard_netdev_egress(egress), NETDEV_HOOK);
	BECAUSE(guard_egress_down(egress), EGRESS_DOWN);
	BECAUSE(guard_egress_mtu(egress, way->length), EGRESS_MTU);
	BECAUSE(guard_egress_qdisc(egress) && guard_egress_qdisc_list(way->egress, 0), EGRESS_QDISC);
	BECAUSE(guard_egress_redirect(egress), EGRESS_REDIRECT);
	s32 slot = port_slot_out(KLOAD(u32, KADDR(struct net_device, way->egress, ifindex)), way->length);

	if (slot < 0)
		return ~slot;
	way->out = slot;
	return REASON_NONE;
}

#endif
