/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BRIDGE_FIND_H
#define TNA_BRIDGE_FIND_H

/*
 * Pairs of stations that the flow cache does not know. Where many talk most frames are of such a pair, and
 * to evaluate each from nothing would take three times as long.
 */

#include "bridge/evaluate.bpf.h"

/* What bridge_prove() takes for granted when a flow is remembered; it proves all else. */
INLINE u64 find_forbidden(const struct packet *packet, struct net_device *ingress)
{
	u64 word = guard_namespace(ingress, CONSTANT(NET));

	COLLECT(word, !(BPF_CORE_READ_BITFIELD(ingress, priv_flags) & IFF_BRIDGE_PORT));
	COLLECT(word, (packet->destination | packet->source) & MAC_MULTICAST);
	COLLECT(word, !packet->source);
	return word;
}

/* Finds what is to be proved, and remembers it; 0 if that cannot be. */
NOINLINE int bridge_find(hook_context *ctx, struct tna_flow *flow)
{
	struct bridge_path path = {.device = hook_ingress_device(hook_kernel_buffer(ctx))};
	u32 epoch = home.epoch; /* before anything is looked up */
	struct packet packet;

	if (self_check_paused(TNA_CHECKED_BRIDGE) || !packet_parse(ctx, &packet) ||
	    find_forbidden(&packet, KOBJ(struct net_device, path.device)))
		return 0;
	path.port = KLOAD(u64, KADDR(struct net_device, path.device, rx_handler_data));
	path.bridge = KLOAD(u64, KADDR(struct net_bridge_port, path.port, br));
	if (CONSTANT(VLAN) && VLAN_KNOWN && evaluate_vlan(&packet, &path) != REASON_NONE)
		return 0;
	if (evaluate_stations(&packet, &path) != REASON_NONE)
		return 0;
	path.egress = KLOAD(u64, KADDR(struct net_bridge_port, path.egress_port, dev));
	if (bridge_port_offloaded(path.port) | bridge_port_offloaded(path.egress_port))
		return 0;
	if (CONSTANT(VLAN) && VLAN_KNOWN) {
		if (evaluate_egress_vlan(&packet, &path) != REASON_NONE)
			return 0;
		evaluate_fill_vlans(&packet, &path);
	}
	/* a frame that is too short for the port is not remembered; what is not, proves its own length */
	return evaluate_fill(flow, &path, bridge_mark(&packet, epoch), packet.len) == REASON_NONE;
}

#endif
