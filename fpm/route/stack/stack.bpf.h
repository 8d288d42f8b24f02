/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_STACK_STACK_H
#define TNA_ROUTE_STACK_STACK_H

/* Packets that are routed to or from devices on top of ports, which are bridges or VLAN devices; of either
 * protocol. */

#include "guards/finishing.bpf.h"
#include "route/stack/bridge.bpf.h"

/* The devices that a packet passes, by address. */
struct route_way {
	u64 device;    /* that the frame came in by */
	u64 arrival;   /* as which Linux receives it: that one, its bridge, or a VLAN device on either */
	u64 departure; /* to which Linux hands it: the egress device, its bridge, or a VLAN device on either
			*/
	u64 egress;
};

/* Whether a packet comes from a bridge, or goes to one. */
INLINE int passes_bridge(const struct tna_route_stack *part)
{
	return CONSTANT(BRIDGE) || part->destination;
}

/* As which device Linux receives a frame that comes in by a port, with tags or (0) none: the frame's own, or
 * the one that the port's bridge hands it to the host with. */
INLINE u64 route_arrival(u64 port, u64 tags)
{
	return CONSTANT(BRIDGE) ? bridge_arrival(port_bridge_device(KOBJ(struct net_device, port)), tags)
				: tagged_arrival(port, tags);
}

/* The part of it that the port's frames are told apart by at once: a bridge's VLANs are yet to be proved. */
INLINE u64 port_arrival(u64 port, u64 tags)
{
	return CONSTANT(BRIDGE) ? port : tagged_arrival(port, tags);
}

/* The tag for the host, of a frame of which nothing is known yet. */
INLINE u32 bridge_arrival_tag(u64 port, u32 tag)
{
	return CONSTANT(BRIDGE) && BRIDGE_VLANS ? arrival_tag_find(port, tag) : 0;
}

/* The same, of a frame whose way through the bridge has been evaluated. */
INLINE u64 arriving_tags(const struct tna_route_stack *part, u64 tags)
{
	return CONSTANT(BRIDGE) ? (BRIDGE_VLANS ? part->arrival_tag : 0) : tags;
}

/* As which device Linux receives a frame whose way there has been evaluated. */
NOINLINE u64 evaluated_arrival(hook_context *ctx, const struct tna_route_stack *part)
{
	u64 tags = TAGS ? arriving_tags(part, packet_tags(ctx, TAGS_MOST)) : 0;

	return route_arrival(hook_ingress_device(hook_kernel_buffer(ctx)), tags);
}

/* The devices from which and to which Linux hands a packet whose route is known, by address. */
INLINE u64 known_arrival(const struct tna_route *route, const struct tna_route_stack *part)
{
	return CONSTANT(BRIDGE) ? route_arrival(route->ingress_dev, arriving_tags(part, 0))
				: route->ingress_dev;
}

INLINE u64 known_departure(const struct tna_route *route, const struct tna_route_stack *part)
{
	return CONSTANT(STACKED) ? part->departure : route->egress_dev;
}

/* The VLAN device under the one by which a packet leaves; 0: there is none. */
INLINE u64 departure_between(const struct tna_route_stack *part)
{
	return VLAN_STACKS && !part->destination ? part->between : 0;
}

/* The tags with which a packet leaves, as they lie in the frame; 0: none. The inner one is the departure's
 * own, where that lies on another VLAN device. */
INLINE u64 route_tags(const struct tna_route_stack *part)
{
	u64 tags = VLAN_DEVICES ? part->tag : 0;

	if (departure_between(part))
		tags |= (u64)vlan_device_tag(part->departure) << 32;
	return tags;
}

/* Whether what is left to the hardware would be finished on the way from a device on top to the one that the
 * packet leaves by. Apart from what is proved of all packets: both together would need too much stack. */
NOINLINE u64 stack_finishes(hook_context *ctx, u64 departure, u64 egress)
{
	u64 word = guard_finishes(ctx, departure);

	if (BRIDGE_VLANS && vlan_below(departure) != departure && vlan_below(departure) != egress)
		word |= guard_finishes(ctx, vlan_below(departure));
	return word;
}

/*
 * The proof of what a packet meets besides its arrival and departure: what it meets at its port before it
 * arrives as another device, and behind the one that it departs by, where that is not the egress device. A
 * bridge is found on the way.
 */
INLINE void prove_stack(hook_context *ctx, const struct tna_route *route, const struct tna_route_stack *part,
			struct route_way *way, u64 tags, u32 total, u64 *doubt, u64 *closer)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	struct net_device *port = KOBJ(struct net_device, way->device);
	u64 departure = part->departure, between = departure_between(part);
	u32 tag = tags;

	if (passes_bridge(part))
		COLLECT(*closer, guard_bridge_hooks(net, &home));
	if (CONSTANT(BRIDGE)) {
		struct packet packet = {};

		COLLECT(*doubt, !packet_parse(ctx, &packet));
		COLLECT(*doubt, bridged_arrival(part, net, port, &packet, &tag, &way->arrival));
		if (BRIDGE_VLANS && tag) {
			struct net_device *bridge = KOBJ(struct net_device, way->arrival);

			COLLECT(*closer, guard_tc_ingress(bridge));
			COLLECT(*doubt, guard_netdev_ingress(bridge));
			way->arrival = vlan_device_find(way->arrival, tag);
		}
	}
	if (TAGS_MOST > 1 && tags >> 32) {
		COLLECT(*doubt, vlan_between(vlan_device_find(way->device, tag), tag, closer));
		tag = tags >> 32;
	}
	if (TAGS && tag)
		COLLECT(*doubt, vlan_arrival(way->arrival, tag));
	if (CONSTANT(BRIDGE) || (TAGS && tag)) {
		COLLECT(*closer, guard_tc_port(port));
		COLLECT(*doubt, guard_netdev_ingress(port));
	}
	way->departure = departure;
	if (departure == way->egress)
		return;
	if (between) {
		COLLECT(*doubt, vlan_departure(departure, between));
		COLLECT(*doubt, prove_above(between, closer));
	}
	if (part->destination)
		COLLECT(*doubt, bridged_departure(part, net, route->destination, way->egress, closer));
	else
		COLLECT(*doubt, vlan_departure(between ? between : departure, way->egress));
	COLLECT(*doubt, prove_above(departure, closer));
	if (unlikely(guard_unfinished(ctx)))
		COLLECT(*doubt, stack_finishes(ctx, departure, way->egress));
	if (!hook_is_several(ctx))
		COLLECT(*doubt, guard_egress_mtu(KOBJ(struct net_device, way->egress),
						 total + ETH_HLEN + tags_length(route_tags(part))));
}

/* What ports and bridges have to say against a packet, besides the devices of its arrival and departure. */
INLINE u64 stacked_objection(const struct tna_route_stack *part, u64 device, u64 arrival, u64 egress,
			     u64 socket)
{
	u64 word = guard_devices(CONSTANT(NET), device, egress, socket), below = device;

	word |= guard_tc_port_busy(KOBJ(struct net_device, device));
	if (BRIDGE_VLANS || VLAN_STACKS) {
		if (CONSTANT(BRIDGE))
			below = port_bridge_device(KOBJ(struct net_device, device));
		else if (VLAN_STACKS)
			below = vlan_below(arrival);
		word |= guard_devices(CONSTANT(NET), below, vlan_below(part->departure), socket);
		word |= guard_tc_arrival_busy(below, device);
	}
	/* a bridge takes a frame before the port's sockets of its protocol see it, a VLAN device does not */
	if (TAGS && below != arrival && guard_capture_possible(KOBJ(struct net, CONSTANT(NET)))) {
		word |= guard_capture_specific(CONSTANT(NET), below, KOBJ(struct net_device, below));
		if (TAGS_MOST > 1 && below != device)
			word |= guard_capture_specific(CONSTANT(NET), device,
						       KOBJ(struct net_device, device));
	}
	if (passes_bridge(part) && guard_bridge_hooks(KOBJ(struct net, CONSTANT(NET)), &home))
		word |= bridge_hooks_revalidate(&home);
	return word;
}

/* What a frame meets where it leaves a device on top of others. */
INLINE u32 evaluate_above(u64 device)
{
	struct net_device *above = KOBJ(struct net_device, device);

	BECAUSE(capture_of_device(device), CAPTURE);
	BECAUSE(guard_tc_entry_busy(guard_tc_egress(above)), TC);
	BECAUSE(guard_netdev_egress(above), NETDEV_HOOK);
	BECAUSE(guard_egress_down(above), EGRESS_DOWN);
	BECAUSE(guard_egress_qdisc(above) && (HOOK_WITHIN_LINUX || guard_egress_qdisc_list(device, 0)),
		EGRESS_QDISC);
	BECAUSE(guard_several_queues(above), EGRESS_QDISC);
	return REASON_NONE;
}

/* By which port a packet leaves, whose departure may be another device: what is found is remembered at once.
 */
INLINE u32 evaluate_stacked_departure(u64 departure, u64 next_hop, struct tna_route_stack *part, u64 *egress)
{
	struct bridged_way way = {.egress = departure};

	if (VLAN_DEVICES && device_is_vlan(departure)) {
		UNLESS_BECAUSE(evaluate_above(departure));
		UNLESS_BECAUSE(evaluate_vlan_departure(departure, &way.tag, &way.egress));
	}
	if (VLAN_STACKS && way.tag && device_is_vlan(way.egress)) {
		way.between = way.egress;
		UNLESS_BECAUSE(evaluate_above(way.between));
		UNLESS_BECAUSE(evaluate_vlan_departure(way.between, &way.tag, &way.egress));
		BECAUSE(device_is_bridge(way.egress), STACKED);
	}
	if (device_is_bridge(way.egress) && (BRIDGE_VLANS || way.egress == departure)) {
		UNLESS_BECAUSE(evaluate_above(way.egress));
		UNLESS_BECAUSE(evaluate_bridged_departure(way.egress, next_hop, &way));
	}
	part->departure = departure;
	part->destination = way.station;
	part->tag = way.tag;
	if (way.station)
		part->out_vlan = way.vlan;
	else
		part->between = way.between;
	*egress = way.egress;
	return REASON_NONE;
}

#endif
