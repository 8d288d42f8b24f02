/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V6_FORWARD_H
#define TNA_ROUTE_V6_FORWARD_H

/* IPv6: a straight line that proves what the route cache remembers, and behind it the whole truth. */

#include "route/common/look.bpf.h"
#include "route/common/send.bpf.h"
#include "route/v6/self_check.bpf.h"

/* Apart from what uses it: a whole header takes much of the stack. */
NOINLINE u32 route6_place(hook_context *ctx)
{
	struct ipv6 ip;

	return route6_parse(ctx, &ip, TAGS_MOST) ? ipv6_index(&ip.tuple) : NOWHERE;
}

/* The packet's length. */
NOINLINE u32 route6_total(hook_context *ctx)
{
	struct ipv6 ip;

	return ipv6_parse(ctx, &ip, TAGS_MOST) ? ip.total : 0;
}

/* As route_send_known(). */
NOINLINE int route6_send_known(hook_context *ctx, u32 index)
{
	struct ipv6 ip;

	if (index >= FLOWS_TOTAL || !ipv6_parse(ctx, &ip, TAGS_MOST))
		return HOOK_TO_LINUX;
	return route_send(ctx, &route6_at(index)->route, ip.frame_len, ip.total, ip.ethernet.tags,
			  route_tags(route6_stack_at(index)), 6);
}

/* As route_look_closer(). */
NOINLINE u64 route6_look_closer(hook_context *ctx, u32 index)
{
	if (index >= FLOWS_TOTAL)
		return 1;
	struct tna_route *route = &route6_at(index)->route;

	return route_objections(ctx, route, route6_stack_at(index)) |
	       policy6_renamed(route, route6_stack_at(index)) |
	       fib6_expired(KOBJ(struct fib6_info, route->info));
}

/* As route_look_again(). */
NOINLINE u64 route6_look_again(hook_context *ctx)
{
	u32 place = route6_place(ctx), reason = REASON_NONE;

	if (place >= FLOWS_TOTAL)
		return leave_to_linux(ctx, TNA_REASON_SHORT);
	if (self_check_paused(TNA_CHECKED_ROUTE))
		return leave_to_linux(ctx, TNA_REASON_SELF_CHECK);
	if (CONSTANT(BRIDGE) && BRIDGE_VLANS)
		route_forget(&route6_at(place)->route);
	if (CONSTANT(BRIDGE))
		reason = evaluate_bridged_arrival(ctx, route6_stack_at(place));
	if (reason == REASON_NONE)
		reason = evaluate_arrival(ctx, route6_stack_at(place));
	if (reason == REASON_NONE) {
		u64 epoch = route6_epoch(KOBJ(struct net, CONSTANT(NET))); /* before anything is looked up */
		u64 arrival = evaluated_arrival(ctx, route6_stack_at(place));
		u64 names = policy_name(policy6_list(), arrival), found = route6_in_place(ctx, arrival);

		reason = route6_evaluate(ctx, route6_at(place), route6_stack_at(place), found, epoch);
		if (reason == REASON_NONE)
			route6_at(place)->route.names = names;
	}
	if (reason == REASON_NONE)
		reason = evaluate_departure(ctx, &route6_at(place)->route, route6_stack_at(place),
					    route6_total(ctx));
	if (CONSTANT(RULES) && reason == REASON_NONE)
		reason = evaluate6_marks(&route6_at(place)->route);
	if (reason != REASON_NONE)
		return leave_to_linux(ctx, reason);
	if (!CONSTANT(STACKED) && !route6_at(place)->route.policy)
		route6_remember_hop(route6_at(place));
	return CONSTANT(RULES) ? route_verdict(LOOK_FOR_PERMIT, place) : route6_send_known(ctx, place);
}

/* As route_prove(). */
INLINE u64 route6_prove(hook_context *ctx, const int stacked, const int found, struct tna_lesson *lesson)
{
	struct ipv6 ip;

	if (unlikely(!route6_parse(ctx, &ip, stacked ? TAGS_MOST : 0)))
		return LOOK_AGAIN;
	hook_buffer *buffer = hook_kernel_buffer(ctx);
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u64 device = hook_ingress_device(buffer),
	    arrival_address = stacked ? port_arrival(device, ip.ethernet.tags) : device;
	u32 index = found ? route6_find(ctx, device) : ipv6_index(&ip.tuple);

	if (unlikely(index >= FLOWS_TOTAL))
		return LOOK_AGAIN;
	struct tna_route6 *route6 = route6_at(index);
	struct tna_route *route = &route6->route;

	if (!found) {
		u64 other = route6->source_prefix ^ ip.tuple.source.prefix;

		COLLECT(other, route6->source_rest ^ ip.tuple.source.rest);
		COLLECT(other, route6->destination_prefix ^ ip.tuple.destination.prefix);
		COLLECT(other, route6->destination_rest ^ ip.tuple.destination.rest);
		COLLECT(other, route->epoch ^ route6_epoch(net));
		RARELY(other, "!= 0", another);
	}
	u64 doubt = hook_frame_unfit(ctx, buffer) | ipv6_header_wrong(&ip), closer = 0;
	u64 egress_address = route->egress_dev;
	struct route_way way = {device, arrival_address, egress_address, egress_address};

	COLLECT(doubt, hook_frame_differs(ctx, buffer));
	COLLECT(doubt, hook_routed_by_past(buffer, inet6_rules(net)));
	COLLECT(closer, self_check_due(route->packets) | route->names);
	WHEN(VETH) COLLECT(closer, hook_sender_buffer(buffer));
	COLLECT(doubt, route->ingress_dev ^ arrival_address);
	COLLECT(doubt,
		((u64)route->mtu - packet_segment(ctx, ip.total, IPV6_HEADER_LEN, ip.tuple.protocol)) >> 63);
	COLLECT(doubt, several_cut(ctx, ip.frame_len, ip.total));
	COLLECT(doubt, shorter_than_all(ip.total + ETH_HLEN));
	COLLECT(doubt, ipv6_expires(&ip));
	if (stacked)
		prove_stack(ctx, route, route6_stack_at(index), &way, ip.ethernet.tags, ip.total, &doubt,
			    &closer);

	struct net_device *ingress = KOBJ(struct net_device, device);
	struct net_device *arrival = KOBJ(struct net_device, way.arrival);

	COLLECT(doubt, guard_namespace(ingress, CONSTANT(NET)));
	COLLECT(doubt, KGET(u64, arrival, rx_handler));
	COLLECT(doubt, device_address(arrival) ^ ip.ethernet.mac);
	if (!CONSTANT(BRIDGE) && way.arrival == device)
		COLLECT(doubt, hook_for_another(ctx));
	COLLECT(closer, guard_tc_arrival(way.arrival, device) | guard_vrf(arrival));
	COLLECT(doubt, guard_netdev_ingress(arrival));
	COLLECT(doubt, inet6_disabled(inet6_device(arrival)));

	struct ipv6_devconf *all = inet6_all(net);

	COLLECT(doubt, inet6_rules(net) ^ route->policy);
	COLLECT(doubt, inet6_not_forwarding(all));
	COLLECT(doubt, inet6_proxy(all));
	COLLECT(closer, guard_capture_possible(net));
	if (!CONSTANT(RULES))
		COLLECT(doubt, guard_inet6_hooks(net));
	COLLECT(doubt, guard_xfrm(net));

	struct fib6_info *info = KOBJ(struct fib6_info, route->info);

	COLLECT(doubt, fib6_gone(info, route->table, route->alias));
	COLLECT(doubt, fib6_hop_is_others(net, buffer, route->info, route->hop));
	/* No generation tells of a device that is dormant (rt6_sync_down_dev()). */
	COLLECT(doubt, KLOAD(u8, KADDR(struct fib_nh_common, route->hop, nhc_flags)) & HOP_UNUSABLE);
	COLLECT(closer, KGET(u32, info, fib6_flags) & FIB6_EXPIRES);
	COLLECT(doubt, KGET(u64, info, fib6_metrics) ^ route6->metrics);
	COLLECT(doubt, route6_mtus(route6->egress_inet6, route6->metrics) ^ route->mtus);

	struct neighbour *neighbour = KOBJ(struct neighbour, route->neighbour);

	COLLECT(doubt, neighbour_unfit(neighbour, way.departure));
	COLLECT(doubt, neighbour6_differs(route->neighbour, route6->gateway_prefix, route6->gateway_rest));
	COLLECT(doubt, KGET(u64, neighbour, ha) ^ route->destination);
	/* No generation tells of another address: neighbours leave, and others may come where they were. */
	COLLECT(doubt, device_address(KOBJ(struct net_device, way.departure)) ^ route->source);

	struct net_device *egress = KOBJ(struct net_device, egress_address);

	COLLECT(closer, guard_egress_hooks(egress) | guard_not_the_last(egress_address));
	COLLECT(doubt, guard_egress_redirect(egress));
	COLLECT(doubt, guard_sender_taken_off(buffer, egress));
	COLLECT(doubt, guard_peer_generic_xdp(egress_address));
	COLLECT(doubt, guard_egress_down(egress));
	COLLECT(closer, guard_egress_qdisc(egress));
	if (CONSTANT(RULES) && unlikely(any_altered()))
		COLLECT(doubt, route_marks_matter(route, route->policy, 0));

	if (CONSTANT(RULES)) { /* as in route_prove() */
		RARELY(doubt, "!= 0", look_again);
		if (stacked || found || closer)
			return route_verdict(closer ? LOOK_CLOSER : LOOK_FOR_PERMIT, index);
		u64 permitted = connection6_permit(ctx, way.arrival, 0, lesson);

		if (permitted < REASON_NONE)
			return route_verdict(LOOK_REFUSED, permitted);
		COLLECT(doubt, permitted ^ way.departure);
	}
	RARELY(doubt | closer, "!= 0", look_again);
	return route_send(ctx, route, ip.frame_len, ip.total, ip.ethernet.tags,
			  stacked ? route_tags(route6_stack_at(index)) : 0, 6);
another:
	return LOOK_ELSEWHERE;
look_again:
	return route_verdict(doubt ? LOOK_AGAIN : LOOK_CLOSER, index);
}

/* As route_prove_stacked(). */
NOINLINE u64 route6_prove_stacked(hook_context *ctx)
{
	return route6_prove(ctx, 1, 0, NULL);
}

NOINLINE u64 route6_prove_found(hook_context *ctx)
{
	return route6_prove(ctx, 0, 1, NULL);
}

/* As route_send_checked(). */
NOINLINE int route6_send_checked(hook_context *ctx, u32 index)
{
	if (index >= FLOWS_TOTAL)
		return HOOK_TO_LINUX;
	u32 reason = self_check_due(route6_at(index)->route.packets) ? route6_check(ctx, index) : REASON_NONE;

	return reason == REASON_NONE ? route6_send_known(ctx, index) : leave_to_linux(ctx, reason);
}

/* As route_send_permitted(). */
NOINLINE int route6_send_permitted(hook_context *ctx, u32 index)
{
	if (index >= FLOWS_TOTAL)
		return HOOK_TO_LINUX;
	const struct tna_route *route = &route6_at(index)->route;
	const struct tna_route_stack *part = route6_stack_at(index);
	u32 reason = evaluate_connection(ctx, known_arrival(route, part), calling_port(ctx, 6),
					 known_departure(route, part), 6);

	return reason == REASON_NONE ? route6_send_checked(ctx, index) : route_refuse(ctx, reason, 6);
}

/* HOOK_SENT, or HOOK_TO_LINUX with the frame untouched. Next hops are found where packets pass no bridge. */
INLINE int route6_forward(hook_context *ctx)
{
	struct tna_lesson *lesson = NULL;

	if (CONSTANT(RULES) && unlikely(any_altered()))
		lesson = note_destination6(ctx);
	u64 verdict = CONSTANT(STACKED) ? route6_prove_stacked(ctx) : route6_prove(ctx, 0, 0, lesson);

	if (likely(verdict < LOOK_ELSEWHERE))
		return verdict;
	if (CONSTANT(RULES) && (verdict == LOOK_ELSEWHERE || (u32)verdict == LOOK_AGAIN)) {
		u32 reason = connection6_unheard(ctx);

		if (reason != REASON_NONE)
			return leave_to_linux(ctx, reason);
	}
	if (verdict == LOOK_ELSEWHERE)
		verdict = CONSTANT(STACKED) ? LOOK_AGAIN : route6_prove_found(ctx);
	if (verdict < LOOK_ELSEWHERE)
		return verdict;
	if (CONSTANT(RULES) && (u32)verdict == LOOK_REFUSED)
		return route_refuse(ctx, verdict >> 32, 6);
	if ((u32)verdict == LOOK_CLOSER && !route6_look_closer(ctx, verdict >> 32))
		return CONSTANT(RULES) ? route6_send_permitted(ctx, verdict >> 32)
				       : route6_send_checked(ctx, verdict >> 32);
	if (!CONSTANT(RULES) || (u32)verdict != LOOK_FOR_PERMIT)
		verdict = route6_look_again(ctx);
	return CONSTANT(RULES) && (u32)verdict == LOOK_FOR_PERMIT ? route6_send_permitted(ctx, verdict >> 32)
								  : verdict;
}

#endif
