/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_H
#define TNA_ROUTE_H

/*
 * Packets from one port to another by the kernel's own routes. See README.md beside this file for what is
 * accelerated and what is left to Linux. IPv4 is here, IPv6 in route6.bpf.h.
 *
 * As in the bridge module the decision is made twice: route_forward() proves for every packet, in place,
 * that what the route cache remembers still holds and that nothing objects; what it cannot prove is
 * evaluated from nothing by route_evaluate().
 */

#include "route/evaluate.bpf.h"
#include "route/ipv6.bpf.h"

/* Conditions that are harmless more often than not, for the ports that have them. */
NOINLINE u64 route_objection(struct xdp_md *ctx, u64 device, u64 egress_address)
{
	struct net_device *ingress = KOBJ(struct net_device, device);
	struct net_device *egress = KOBJ(struct net_device, egress_address);
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u64 buffer = CONSTANT(VETH) ? sender_buffer(bpf_cast_to_kern_ctx(ctx)) : 0;
	u64 word = guard_tc_entry_busy(guard_tc_ingress(ingress)) | guard_netdev_egress(egress) |
		   guard_tc_entry_busy(guard_tc_egress(egress));

	if (guard_capture_possible(net))
		word |= guard_capture_namespace(CONSTANT(NET), net) | guard_capture_device(device, ingress) |
			guard_capture_specific(CONSTANT(NET), device, ingress) |
			guard_capture_device(egress_address, egress);
	if (guard_egress_qdisc(egress))
		word |= guard_egress_qdisc_list(egress_address);
	if (buffer)
		word |= guard_unfinished_checksum(buffer) | guard_hidden_tag(buffer);
	return word;
}

/*
 * Out of the port that the route remembers. Linux cuts off what is behind the packet (the padding of a
 * short one, pskb_trim_rcsum()). The frame is changed only when nothing can fail any more.
 */
INLINE int route_send(struct xdp_md *ctx, struct tna_route *route, u64 frame_len, u64 total, int version)
{
	u64 behind = frame_len - total - ETH_HLEN;
	u64 destination = route->destination, source = route->source;
	int action = bpf_redirect_map(&egress_ports, route->out_slot, XDP_PASS);

	RARELY((u64)(u32)action, "!= 4", pass); /* XDP_REDIRECT */
	RARELY(behind, "!= 0", trim);
rewrite:
	if (unlikely(!(version == 6 ? ipv6_rewrite : ipv4_rewrite)(ctx, destination, source)))
		return XDP_PASS;
	route->packets++;
	route->bytes += total + ETH_HLEN;
	return action;
trim:
	if (bpf_xdp_adjust_tail(ctx, -(int)behind) == 0)
		goto rewrite;
pass:
	return XDP_PASS;
}

/* For a packet that could not be proved, or that deserves a closer look; it need not be slow. */
NOINLINE int route_second_look(struct xdp_md *ctx, struct tna_route *route, u64 device, u64 egress, u64 doubt)
{
	struct ipv4 ip;

	if (doubt || route_objection(ctx, device, egress)) {
		u32 reason = route_evaluate(ctx, route);

		if (reason != REASON_NONE)
			return leave_to_linux(ctx, reason);
	}
	return route && ipv4_parse(ctx, &ip) ? route_send(ctx, route, ip.frame_len, ip.total, 4) : XDP_PASS;
}

/* For an index below FLOWS_TOTAL. */
INLINE struct tna_route *route_at(u32 index)
{
	struct tna_route *all = routes;

	asm volatile("" : "+r"(all)); /* its size is known at load time only */
	return all + index;
}

/* Whether a route's place in the kernel is empty, or another's (hlist_del_rcu() poisons the link). */
INLINE u64 route_gone(struct fib_alias *alias, u64 info)
{
	u64 word = KGET(u64, alias, fa_list.pprev) >> 56 ^ 0xff;

	COLLECT(word, KGET(u64, alias, fa_info) ^ info);
	return word;
}

/* For a frame with the EtherType of IPv6: route6.bpf.h. */
INLINE int route6_forward(struct xdp_md *ctx);

/* XDP_REDIRECT, or XDP_PASS with the frame untouched. */
INLINE int route_forward(struct xdp_md *ctx)
{
	struct ipv4 ip;

	if (unlikely(!ipv4_parse(ctx, &ip)))
		return route_second_look(ctx, NULL, 0, 0, 1);
	RARELY((u64)(u16)ip.start, "== 0xdd86", ipv6); /* ETH_P_IPV6 in network order */
	u32 index = flow_index(ip.addresses ^ ip.addresses >> 35, 0, 0);

	if (unlikely(index >= FLOWS_TOTAL))
		return XDP_PASS;
	struct tna_route *route = route_at(index);
	struct xdp_buff *xdp = bpf_cast_to_kern_ctx(ctx);
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u64 doubt = (xdp->flags & XDP_BUFF_HAS_FRAGS) | ip.checksum, closer = 0;
	u64 device = ingress_device(xdp), egress_address = route->egress_dev;

	WHEN(VETH) COLLECT(closer, sender_buffer(xdp));
	COLLECT(doubt, route->addresses ^ ip.addresses);
	COLLECT(doubt, route->start ^ ip.start);
	COLLECT(doubt, route->ingress_dev ^ device);
	COLLECT(doubt, ((u64)route->mtu - ip.total) >> 63);
	COLLECT(doubt, ipv4_length_wrong(&ip));
	COLLECT(doubt, ipv4_expires(&ip));
	COLLECT(doubt, route->epoch ^ route_epoch(net));

	struct net_device *ingress = KOBJ(struct net_device, device);

	COLLECT(doubt, guard_namespace(ingress, CONSTANT(NET)));
	COLLECT(doubt, KGET(u64, ingress, rx_handler));
	COLLECT(doubt, device_address(ingress) ^ ip.mac);
	COLLECT(closer, guard_tc_ingress(ingress));
	COLLECT(doubt, guard_netdev_ingress(ingress));

	struct in_device *inet = KOBJ(struct in_device, inet_device(ingress));

	COLLECT(doubt, inet_not_forwarding(inet));
	COLLECT(doubt, inet_reverse_path(net, inet) ^ route->reverse_path);
	COLLECT(closer, guard_capture_possible(net));
	COLLECT(doubt, guard_inet_hooks(net));
	COLLECT(doubt, guard_xfrm(net));
	COLLECT(doubt, route_gone(KOBJ(struct fib_alias, route->alias), route->info));
	COLLECT(doubt, KLOAD(u64, KADDR(struct fib_nh_common, route->hop, nhc_exceptions)));

	struct neighbour *neighbour = KOBJ(struct neighbour, route->neighbour);

	COLLECT(doubt, neighbour_gone(neighbour, egress_address, route->gateway));
	COLLECT(doubt, KGET(u64, neighbour, ha) ^ route->destination);

	struct net_device *egress = KOBJ(struct net_device, egress_address);

	COLLECT(closer, guard_egress_hooks(egress));
	COLLECT(doubt, guard_egress_redirect(egress));
	COLLECT(doubt, guard_egress_down(egress));
	COLLECT(closer, guard_egress_qdisc(egress));

	RARELY(doubt | closer, "!= 0", look_again);
	return route_send(ctx, route, ip.frame_len, ip.total, 4);
look_again:
	return route_second_look(ctx, route, device, egress_address, doubt);
ipv6:
	return bpf_core_field_exists(struct net, ipv6) ? route6_forward(ctx)
						       : leave_to_linux(ctx, TNA_REASON_NOT_IP);
}

#endif
