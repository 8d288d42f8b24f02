/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V4_FORWARD_H
#define TNA_ROUTE_V4_FORWARD_H

/*
 * IPv4: as in the bridge module the decision is made twice. route_prove() proves for every packet, in place,
 * that what the route cache remembers still holds and that nothing objects; what it cannot prove is evaluated
 * from nothing by route_evaluate().
 */

#include "route/common/look.bpf.h"
#include "route/common/send.bpf.h"
#include "route/v4/self_check.bpf.h"

/* For a packet whose way is known, and whose place in the cache knows it. */
NOINLINE int route_send_known(hook_context *ctx, u32 index)
{
	struct ipv4 ip;

	if (index >= FLOWS_TOTAL || !ipv4_parse(ctx, &ip, TAGS_MOST))
		return HOOK_TO_LINUX;
	return route_send(ctx, route_at(index), ip.frame_len, ip.total, ip.ethernet.tags,
			  route_tags(route_stack_at(index)), 4);
}

/* For a packet that deserves a closer look: whether there is something against it. */
NOINLINE u64 route_look_closer(hook_context *ctx, u32 index)
{
	if (index >= FLOWS_TOTAL)
		return 1;
	const struct tna_route *route = route_at(index);

	return route_objections(ctx, route, route_stack_at(index)) |
	       policy_renamed(route, route_stack_at(index));
}

/* For a packet that could not be proved; it need not be slow: what the rules say is yet to be asked. */
NOINLINE u64 route_look_again(hook_context *ctx)
{
	u32 place = FLOWS_TOTAL, reason = REASON_NONE, total = 0;
	struct ipv4 ip;

	if (route_parse(ctx, &ip, TAGS_MOST)) {
		place = ipv4_index(&ip.tuple);
		total = ip.total;
	}
	if (place >= FLOWS_TOTAL)
		return leave_to_linux(ctx, TNA_REASON_SHORT);
	if (self_check_paused(TNA_CHECKED_ROUTE))
		return leave_to_linux(ctx, TNA_REASON_SELF_CHECK);
	if (CONSTANT(BRIDGE) && BRIDGE_VLANS)
		route_forget(route_at(place));
	if (CONSTANT(BRIDGE))
		reason = evaluate_bridged_arrival(ctx, route_stack_at(place));
	if (reason == REASON_NONE)
		reason = evaluate_arrival(ctx, route_stack_at(place));
	if (reason == REASON_NONE) {
		u64 epoch = route_epoch(KOBJ(struct net, CONSTANT(NET))); /* before anything is looked up */
		u64 arrival = evaluated_arrival(ctx, route_stack_at(place));
		u64 names = policy_name(policy_list(), arrival), found = route_in_place(ctx, arrival);

		reason = route_evaluate(ctx, route_at(place), route_stack_at(place), found, epoch);
		if (reason == REASON_NONE)
			route_at(place)->names = names;
	}
	if (reason == REASON_NONE) {
		reason = evaluate_own_source(ctx, route_at(place), route_stack_at(place));
		if (reason != REASON_NONE)
			route_at(place)->egress_dev = 0; /* the route has been filled in */
	}
	if (reason == REASON_NONE)
		reason = evaluate_departure(ctx, route_at(place), route_stack_at(place), total);
	if (CONSTANT(RULES) && reason == REASON_NONE)
		reason = evaluate_marks(route_at(place), route_stack_at(place));
	if (reason == TNA_REASON_UNPROVED && CONSTANT(SELF_CHECK) && !CONSTANT(STACKED))
		route_search_fails(ctx, hook_ingress_device(hook_kernel_buffer(ctx)));
	if (reason != REASON_NONE)
		return leave_to_linux(ctx, reason);
	if (!policy_custom(KOBJ(struct net, CONSTANT(NET)))) /* else it is nobody's but this pair's */
		route_remember_hop(place);
	return CONSTANT(RULES) ? route_verdict(LOOK_FOR_PERMIT, place) : route_send_known(ctx, place);
}

/* Whether a route's place in the kernel is empty, or another's, or it is about to go. */
INLINE u64 route_gone(struct fib_alias *alias, u64 info)
{
	u64 word = fib_unlinked(alias);

	COLLECT(word, KGET(u64, alias, fa_info) ^ info);
	COLLECT(word, fib_dead(info));
	return word;
}

/*
 * HOOK_SENT, or HOOK_TO_LINUX with the frame untouched, or one of the above. `stacked` is known when this is
 * compiled: where packets pass ports only, there is nothing of what other devices would need. So is `found`:
 * whether the packet's next hop is to be found, or the packet itself is to be known. Where there are other
 * devices, it has been found in `place`: both together would need too much stack.
 */
INLINE u64 route_prove(hook_context *ctx, const int stacked, const int found, u32 place,
		       struct tna_lesson *lesson)
{
	struct ipv4 ip;

	if (unlikely(!route_parse(ctx, &ip, stacked ? TAGS_MOST : 0)))
		return LOOK_AGAIN;
	RARELY((u64)(u16)ip.start, "== 0xdd86", ipv6); /* ETH_P_IPV6 in network order */
	hook_buffer *buffer = hook_kernel_buffer(ctx);
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u64 device = hook_ingress_device(buffer),
	    arrival_address = stacked ? port_arrival(device, ip.ethernet.tags) : device;
	u32 index = place;

	if (!found)
		index = ipv4_index(&ip.tuple);
	else if (!stacked)
		index = route_find(ctx, ip.tuple.addresses, ip.start, arrival_address, 0);

	if (unlikely(index >= FLOWS_TOTAL))
		return LOOK_AGAIN;
	struct tna_route *route = route_at(index);

	if (!found) {
		u64 other = route->addresses ^ ip.tuple.addresses;

		COLLECT(other, route->start ^ ip.start);
		COLLECT(other, route->epoch ^ route_epoch(net));
		RARELY(other, "!= 0", another);
	}
	u64 doubt = hook_frame_unfit(ctx, buffer) | ip.checksum, closer = 0;
	u64 egress_address = route->egress_dev;
	struct route_way way = {device, arrival_address, egress_address, egress_address};

	COLLECT(doubt, hook_frame_differs(ctx, buffer));
	COLLECT(doubt, hook_routed_by_past(buffer, policy_custom(net)));
	COLLECT(closer, self_check_due(route->packets) | route->names);
	WHEN(VETH) COLLECT(closer, hook_sender_buffer(buffer));
	COLLECT(doubt, route->ingress_dev ^ arrival_address);
	COLLECT(doubt,
		((u64)route->mtu - packet_segment(ctx, ip.total, IPV4_HEADER_LEN, ip.tuple.protocol)) >> 63);
	COLLECT(doubt, several_cut(ctx, ip.frame_len, ip.total));
	COLLECT(doubt, shorter_than_all(ip.total + ETH_HLEN));
	COLLECT(doubt, ipv4_length_wrong(&ip));
	COLLECT(doubt, ipv4_expires(&ip));
	if (stacked)
		prove_stack(ctx, route, route_stack_at(index), &way, ip.ethernet.tags, ip.total, &doubt,
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

	struct in_device *inet = KOBJ(struct in_device, inet_device(arrival));

	COLLECT(doubt, inet_not_forwarding(inet));
	COLLECT(doubt, inet_reverse_path(net, inet) ^ route->reverse_path);
	if (unlikely(way.arrival == way.departure))
		COLLECT(doubt, inet_redirects(net, inet));
	COLLECT(closer, guard_capture_possible(net));
	if (!CONSTANT(RULES))
		COLLECT(doubt, guard_inet_hooks(net));
	COLLECT(doubt, guard_xfrm(net));
	COLLECT(doubt, route_gone(KOBJ(struct fib_alias, route->alias), route->info));
	COLLECT(doubt, KLOAD(u64, KADDR(struct fib_nh_common, route->hop, nhc_exceptions)));
	COLLECT(doubt, fib_hop_is_others(net, route->info, route->hop));

	struct neighbour *neighbour = KOBJ(struct neighbour, route->neighbour);

	COLLECT(doubt, neighbour_gone(neighbour, way.departure, route->gateway));
	COLLECT(doubt, KGET(u64, neighbour, ha) ^ route->destination);

	struct net_device *egress = KOBJ(struct net_device, egress_address);

	COLLECT(closer, guard_egress_hooks(egress) | guard_not_the_last(egress_address));
	COLLECT(doubt, guard_egress_redirect(egress));
	COLLECT(doubt, guard_sender_taken_off(buffer, egress));
	COLLECT(doubt, guard_peer_generic_xdp(egress_address));
	COLLECT(doubt, guard_egress_down(egress));
	COLLECT(closer, guard_egress_qdisc(egress));
	if (CONSTANT(RULES) && unlikely(any_altered()))
		COLLECT(doubt, route_marks_matter(route, policy_custom(net), way.arrival));

	if (CONSTANT(RULES)) { /* what is permitted is noted, so nothing else may be in the way */
		RARELY(doubt, "!= 0", look_again);
		if (stacked || found || closer) /* not from within: both would need too much stack */
			return route_verdict(closer ? LOOK_CLOSER : LOOK_FOR_PERMIT, index);
		u64 permitted = connection_permit(ctx, way.arrival, 0, lesson);

		if (permitted < REASON_NONE)
			return route_verdict(LOOK_REFUSED, permitted);
		COLLECT(doubt, permitted ^ way.departure);
	}
	RARELY(doubt | closer, "!= 0", look_again);
	return route_send(ctx, route, ip.frame_len, ip.total, ip.ethernet.tags,
			  stacked ? route_tags(route_stack_at(index)) : 0, 4);
another:
	return LOOK_ELSEWHERE;
look_again:
	return route_verdict(doubt ? LOOK_AGAIN : LOOK_CLOSER, index);
ipv6:
	return LOOK_AT_IPV6;
}

/* Apart from each other: what one of them needs is not to be in the way of the other, nor of what follows. */
NOINLINE u64 route_prove_found(hook_context *ctx)
{
	return route_prove(ctx, 0, 1, NOWHERE, NULL);
}

NOINLINE u64 route_prove_stacked(hook_context *ctx)
{
	return route_prove(ctx, 1, 0, NOWHERE, NULL);
}

NOINLINE u64 route_prove_stacked_found(hook_context *ctx, u32 place)
{
	return route_prove(ctx, 1, 1, place, NULL);
}

NOINLINE u32 route_find_stacked(hook_context *ctx)
{
	struct ipv4 ip;

	if (!route_parse(ctx, &ip, TAGS_MOST))
		return NOWHERE;
	u64 device = hook_ingress_device(hook_kernel_buffer(ctx));

	return route_find(ctx, ip.tuple.addresses, ip.start, port_arrival(device, ip.ethernet.tags),
			  bridge_arrival_tag(device, ip.ethernet.tags));
}

/* For a packet that deserves a closer look, of which nothing has come. */
NOINLINE int route_send_checked(hook_context *ctx, u32 index)
{
	if (index >= FLOWS_TOTAL)
		return HOOK_TO_LINUX;
	u32 reason = self_check_due(route_at(index)->packets) ? route_check(ctx, index) : REASON_NONE;

	return reason == REASON_NONE ? route_send_known(ctx, index) : leave_to_linux(ctx, reason);
}

/* For a packet whose way is known, if the rules let it pass. */
NOINLINE int route_send_permitted(hook_context *ctx, u32 index)
{
	if (index >= FLOWS_TOTAL)
		return HOOK_TO_LINUX;
	const struct tna_route *route = route_at(index);
	const struct tna_route_stack *part = route_stack_at(index);
	u32 reason = evaluate_connection(ctx, known_arrival(route, part), calling_port(ctx, 4),
					 known_departure(route, part), 4);

	return reason == REASON_NONE ? route_send_checked(ctx, index) : route_refuse(ctx, reason, 4);
}

/* One look comes after the other, not from within: together, they would need too much stack. */
INLINE int route_conclude(hook_context *ctx, u64 verdict)
{
	if (likely(verdict < LOOK_ELSEWHERE))
		return verdict;
	if (CONSTANT(RULES) && (verdict == LOOK_ELSEWHERE || (u32)verdict == LOOK_AGAIN)) {
		u32 reason = connection_unheard(ctx);

		if (reason != REASON_NONE)
			return leave_to_linux(ctx, reason);
	}
	if (verdict == LOOK_ELSEWHERE)
		verdict = CONSTANT(STACKED) ? route_prove_stacked_found(ctx, route_find_stacked(ctx))
					    : route_prove_found(ctx);
	if (verdict < LOOK_ELSEWHERE)
		return verdict;
	if (CONSTANT(RULES) && (u32)verdict == LOOK_REFUSED)
		return route_refuse(ctx, verdict >> 32, 4);
	if ((u32)verdict == LOOK_CLOSER && !route_look_closer(ctx, verdict >> 32))
		return CONSTANT(RULES) ? route_send_permitted(ctx, verdict >> 32)
				       : route_send_checked(ctx, verdict >> 32);
	if (!CONSTANT(RULES) || (u32)verdict != LOOK_FOR_PERMIT)
		verdict = route_look_again(ctx);
	return CONSTANT(RULES) && (u32)verdict == LOOK_FOR_PERMIT ? route_send_permitted(ctx, verdict >> 32)
								  : verdict;
}

/* The straight line of profiles that packets pass ports only in, or of those that know other devices. */
INLINE u64 route_look(hook_context *ctx)
{
	struct tna_lesson *lesson = NULL;

	if (CONSTANT(RULES) && unlikely(any_altered()))
		lesson = note_destination(ctx);
	return unlikely(CONSTANT(STACKED)) ? route_prove_stacked(ctx)
					   : route_prove(ctx, 0, 0, NOWHERE, lesson);
}

#endif
