/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_STACKED_H
#define TNA_ROUTE_STACKED_H

/* Packets that are routed to or from devices on top of ports, which are bridges or VLAN devices; of either
 * protocol. */

#include "route/bridged.bpf.h"
#include "route/vlan_device.bpf.h"

/* The devices that a packet passes, by address. */
struct route_way {
	u64 device;    /* that the frame came in by */
	u64 arrival;   /* as which Linux receives it: that one, its bridge, or a VLAN device on it */
	u64 departure; /* to which Linux hands it: the egress device, its bridge, or a VLAN device on it */
	u64 egress;
};

/* Whether a packet comes from a bridge, or goes to one. */
INLINE int passes_bridge(const struct tna_route_stack *part)
{
	return CONSTANT(BRIDGE) || part->destination;
}

/* As which device Linux receives a frame that comes in by a port, with a tag or (0) none. */
INLINE u64 route_arrival(u64 port, u32 tag)
{
	return CONSTANT(BRIDGE) ? port_bridge_device(KOBJ(struct net_device, port))
				: tagged_arrival(port, tag);
}

/* The tag with which a packet leaves, as it lies in the frame; 0: none. */
INLINE u32 route_tag(const struct tna_route_stack *part)
{
	return VLAN_DEVICES ? part->tag : 0;
}

/*
 * The proof of what a packet meets besides its arrival and departure: what it meets at its port before it
 * arrives as another device, and behind the one that it departs by, where that is not the egress device. A
 * bridge is found on the way.
 */
INLINE void prove_stack(struct xdp_md *ctx, const struct tna_route *route, const struct tna_route_stack *part,
			struct route_way *way, u32 tag, u32 total, u64 *doubt, u64 *closer)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	struct net_device *port = KOBJ(struct net_device, way->device);
	u64 departure = part->departure;

	if (passes_bridge(part))
		COLLECT(*closer, guard_bridge_hooks(net, &home));
	if (CONSTANT(BRIDGE)) {
		struct packet packet = {};

		COLLECT(*doubt, !packet_parse(ctx, &packet));
		COLLECT(*doubt, bridged_arrival(part, net, port, &packet, &way->arrival));
	}
	if (TAGS && tag)
		COLLECT(*doubt, vlan_arrival(way->arrival, tag));
	if (CONSTANT(BRIDGE) || (TAGS && tag)) {
		COLLECT(*closer, guard_tc_ingress(port));
		COLLECT(*doubt, guard_netdev_ingress(port));
	}
	way->departure = departure;
	if (departure == way->egress)
		return;
	if (part->destination)
		COLLECT(*doubt, bridged_departure(part, net, route->destination, way->egress));
	else
		COLLECT(*doubt, vlan_departure(departure, way->egress));
	struct net_device *above = KOBJ(struct net_device, departure);

	COLLECT(*doubt, guard_egress_down(above));
	COLLECT(*closer, guard_egress_hooks(above));
	COLLECT(*closer, guard_egress_qdisc(above));
	COLLECT(*doubt, guard_egress_mtu(KOBJ(struct net_device, way->egress),
					 total + ETH_HLEN + tag_length(route_tag(part))));
}

/* What ports and bridges have to say against a packet, besides the devices of its arrival and departure. */
INLINE u64 stacked_objection(const struct tna_route_stack *part, u64 device, u64 arrival, u64 egress)
{
	u64 word = guard_devices(CONSTANT(NET), device, egress);

	/* a bridge takes a frame before the port's sockets of its protocol see it, a VLAN device does not */
	if (TAGS && device != arrival && guard_capture_possible(KOBJ(struct net, CONSTANT(NET))))
		word |= guard_capture_specific(CONSTANT(NET), device, KOBJ(struct net_device, device));
	if (passes_bridge(part) && guard_bridge_hooks(KOBJ(struct net, CONSTANT(NET)), &home))
		word |= bridge_hooks_revalidate(&home);
	return word;
}

/* By which port a packet leaves, whose departure may be another device: what is found is remembered at once.
 */
INLINE u32 evaluate_stacked_departure(u64 departure, u64 next_hop, struct tna_route_stack *part, u64 *egress)
{
	struct net_device *above = KOBJ(struct net_device, departure);
	int bridge = device_is_bridge(departure), vlan = VLAN_DEVICES && device_is_vlan(departure);
	u64 station = 0, tag = 0;

	if (bridge || vlan) {
		BECAUSE(guard_capture_device(departure, above), CAPTURE);
		BECAUSE(guard_tc_entry_busy(guard_tc_egress(above)), TC);
		BECAUSE(guard_netdev_egress(above), NETDEV_HOOK);
		BECAUSE(guard_egress_down(above), EGRESS_DOWN);
		BECAUSE(guard_egress_qdisc(above) && guard_egress_qdisc_list(departure), EGRESS_QDISC);
	}
	if (bridge)
		UNLESS_BECAUSE(evaluate_bridged_departure(departure, next_hop, &station, egress));
	if (vlan)
		UNLESS_BECAUSE(evaluate_vlan_departure(departure, &tag, egress));
	part->departure = departure;
	part->destination = station;
	part->tag = tag;
	return REASON_NONE;
}

#endif
