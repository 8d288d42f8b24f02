/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_STACKED_H
#define TNA_ROUTE_STACKED_H

/* Packets that are routed to or from bridges, which are on top of ports; of either protocol. */

#include "route/bridged.bpf.h"

/* The devices that a packet passes, by address. */
struct route_way {
	u64 device;    /* that the frame came in by */
	u64 arrival;   /* as which Linux receives it: that one, or its bridge */
	u64 departure; /* to which Linux hands it: the egress device, or its bridge */
	u64 egress;
};

/* Whether a packet comes from a bridge, or goes to one. */
INLINE int passes_bridge(const struct tna_route_stack *part)
{
	return CONSTANT(BRIDGE) || part->destination;
}

/*
 * The proof of what bridges make of a packet, whose device and egress device are known; the other two are
 * found on the way.
 */
INLINE void prove_stack(struct xdp_md *ctx, const struct tna_route *route, const struct tna_route_stack *part,
			struct route_way *way, u32 total, u64 *doubt, u64 *closer)
{
	struct net *net = KOBJ(struct net, CONSTANT(NET));
	u64 departure = part->departure;

	if (passes_bridge(part))
		COLLECT(*closer, guard_bridge_hooks(net, &home));
	if (CONSTANT(BRIDGE)) {
		struct net_device *port = KOBJ(struct net_device, way->device);
		struct packet packet = {};

		COLLECT(*doubt, !packet_parse(ctx, &packet));
		COLLECT(*doubt, bridged_arrival(part, net, port, &packet, &way->arrival));
		COLLECT(*closer, guard_tc_ingress(port));
		COLLECT(*doubt, guard_netdev_ingress(port));
	}
	way->departure = departure;
	if (!part->destination)
		return;
	struct net_device *bridge = KOBJ(struct net_device, departure);

	COLLECT(*doubt, bridged_departure(part, net, route->destination, way->egress));
	COLLECT(*doubt, guard_egress_down(bridge));
	COLLECT(*closer, guard_egress_hooks(bridge));
	COLLECT(*closer, guard_egress_qdisc(bridge));
	COLLECT(*doubt, guard_egress_mtu(KOBJ(struct net_device, way->egress), total + ETH_HLEN));
}

/* What ports and bridges have to say against a packet, besides the devices of its arrival and departure. */
INLINE u64 stacked_objection(const struct tna_route_stack *part, u64 device, u64 egress)
{
	u64 word = guard_devices(CONSTANT(NET), device, egress);

	if (passes_bridge(part) && guard_bridge_hooks(KOBJ(struct net, CONSTANT(NET)), &home))
		word |= bridge_hooks_revalidate(&home);
	return word;
}

/* By which port a packet leaves, whose departure may be a bridge: what is found is remembered at once. */
INLINE u32 evaluate_stacked_departure(u64 departure, u64 next_hop, struct tna_route_stack *part, u64 *egress)
{
	struct net_device *bridge = KOBJ(struct net_device, departure);
	u64 station = 0;

	if (device_is_bridge(departure)) {
		BECAUSE(guard_capture_device(departure, bridge), CAPTURE);
		BECAUSE(guard_tc_entry_busy(guard_tc_egress(bridge)), TC);
		BECAUSE(guard_netdev_egress(bridge), NETDEV_HOOK);
		BECAUSE(guard_egress_down(bridge), EGRESS_DOWN);
		BECAUSE(guard_egress_qdisc(bridge) && guard_egress_qdisc_list(departure), EGRESS_QDISC);
		UNLESS_BECAUSE(evaluate_bridged_departure(departure, next_hop, &station, egress));
	}
	part->departure = departure;
	part->destination = station;
	return REASON_NONE;
}

#endif
