/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_STACK_BRIDGE_VLAN_H
#define TNA_ROUTE_STACK_BRIDGE_VLAN_H

/*
 * VLANs of bridges that packets are routed to or from. A bridge that filters them takes part in some itself:
 * it hands frames of those to the host (br_pass_frame_up()) and takes the host's (br_dev_xmit()), with a tag,
 * or without one where it is told to. On any bridge, frames with a tag are for a VLAN device on top of it.
 */

#include "route/stack/vlan_device.bpf.h"

/* The settings of the bridge's own part in a VLAN, which a port's part holds for as long as it is linked
 * (__vlan_add()). */
INLINE u64 vlan_of_bridge(struct net_bridge_vlan *port_part)
{
	return vlan_settings(KOBJ(struct net_bridge_vlan, KGET(u64, port_part, brvlan)));
}

/* 0 if the bridge itself takes part in the VLAN, not its ports alone (br_vlan_should_use()), and forwards
 * there. */
INLINE u64 vlan_bridge_state(u64 settings, u64 vid)
{
	return vlan_state(settings, vid) | (~settings & 1ULL << VLAN_BRENTRY_BIT);
}

/* The tag with which frames leave by a part with these settings, as it lies in the frame; 0: none. */
INLINE u32 vlan_tag_behind(u64 settings, u32 protocol)
{
	return vlan_untagged(settings) ? 0 : protocol | (u32)bpf_htons(settings & VLAN_ID) << 16;
}

/* Whether there is a tag that is not of the bridge's own kind: Linux takes it for payload. */
INLINE u64 tag_foreign(u32 tag, u32 protocol)
{
	return ((tag ^ protocol) & 0xffff) & -(u32) !!tag;
}

/* As which device Linux receives a frame by a bridge's port, with this tag for the host. */
INLINE u64 bridge_arrival(u64 bridge_device, u32 tag)
{
	return BRIDGE_VLANS ? tagged_arrival(bridge_device, tag) : bridge_device;
}

/*
 * The proof that a bridge that filters VLANs takes a frame in, and hands it to the host: with which tag, and
 * in which VLAN (part of a station's key) is found on the way.
 */
INLINE u64 filtered_arrival(const struct tna_route_stack *part, u64 port, const struct packet *packet,
			    u32 *tag, u64 *vlan)
{
	struct net_bridge_vlan *in = KOBJ(struct net_bridge_vlan, part->in_vlan);
	u64 completed = vlan_complete(vlan_tag(packet, CONSTANT(VLAN)),
				      vlan_pvid(KOBJ(struct net_bridge_port, port)));
	u64 own = vlan_of_bridge(in), vid = completed & VLAN_ID, word = vlan_gone(in, port);

	COLLECT(word, vlan_state(vlan_settings(in), vid));
	COLLECT(word, vlan_bridge_state(own, vid));
	COLLECT(word, tag_foreign(*tag, CONSTANT(VLAN)));
	*vlan = vid << 48;
	*tag = vlan_tag_behind(own, CONSTANT(VLAN));
	return word;
}

/* The same for a frame that nothing is known of: the tag for the host, whatever there is to say against it.
 */
NOINLINE u32 arrival_tag_find(u64 device, u32 tag)
{
	if (!CONSTANT(VLAN))
		return tag & TAG_IDENTITY;
	u64 port = KLOAD(u64, KADDR(struct net_device, device, rx_handler_data));
	u64 vid = tag_foreign(tag, CONSTANT(VLAN)) ? 0 : bpf_ntohs(tag >> 16) & VLAN_ID;

	if (!vid)
		vid = vlan_pvid(KOBJ(struct net_bridge_port, port));
	u64 part = found_or_linux(vlan_find(port, vid)); /* the proof is not for 0 */

	return vlan_tag_behind(vlan_of_bridge(KOBJ(struct net_bridge_vlan, part)), CONSTANT(VLAN));
}

/* With which tag the bridge hands a frame to the host, whose VLAN has been evaluated. */
INLINE u32 evaluate_arrival_tag(u32 tag, const struct bridge_path *path, struct tna_route_stack *part)
{
	if (CONSTANT(VLAN)) {
		u64 own = vlan_of_bridge(KOBJ(struct net_bridge_vlan, path->vlans.ingress));

		BECAUSE(vlan_bridge_state(own, path->tag & VLAN_ID), VLAN);
		BECAUSE(tag_foreign(tag, CONSTANT(VLAN)), NOT_IP);
		tag = vlan_tag_behind(own, CONSTANT(VLAN));
	}
	part->in_vlan = path->vlans.ingress;
	part->arrival_tag = tag & TAG_IDENTITY;
	return REASON_NONE;
}

/* The VLAN of a frame that a bridge gets from the host: its tag's, or the bridge's own PVID. */
INLINE u64 departure_vlan(struct net_bridge *bridge, u32 tag)
{
	struct net_bridge_vlan_group *group = KOBJ(struct net_bridge_vlan_group, KGET(u64, bridge, vlgrp));

	return tag ? bpf_ntohs(tag >> 16) & VLAN_ID : KGET(u16, group, pvid);
}

/* Of a bridge that a packet leaves by, whichever bridge this profile is for. */
INLINE u64 departure_options(struct net_bridge *bridge, u64 filters)
{
	u64 harmless = filters ? OPTIONS_HARMLESS & ~OPTION_VLAN_STATS : OPTIONS_HARMLESS;

	return (KGET(u64, bridge, options) & ~harmless) ^ (filters ? OPTION_VLAN_ENABLED : 0);
}

/* The proof that a packet still leaves a bridge by a port of its VLAN, with the same tag; the tag is the one
 * that the bridge gets the packet with, and `vlan` becomes part of the station's key. */
INLINE u64 filtered_departure(const struct tna_route_stack *part, struct net_bridge *bridge, u64 port,
			      u32 *tag, u64 *vlan)
{
	struct net_bridge_vlan *out = KOBJ(struct net_bridge_vlan, part->out_vlan);
	u64 settings = vlan_settings(out), vid = departure_vlan(bridge, *tag), word = vlan_gone(out, port);
	u32 protocol = KGET(u16, bridge, vlan_proto);

	COLLECT(word, vlan_state(settings, vid));
	COLLECT(word, vlan_bridge_state(vlan_of_bridge(out), vid));
	COLLECT(word, tag_foreign(*tag, protocol));
	*vlan = vid << 48;
	*tag = vlan_tag_behind(settings, protocol);
	return word;
}

/* The port's part in the VLAN that a packet leaves by, and with which tag; the other way round as above. */
INLINE u32 evaluate_filtered_departure(u64 bridge_address, u64 port, u64 vid, u32 *tag, u64 *part)
{
	struct net_bridge *bridge = KOBJ(struct net_bridge, bridge_address);
	u32 protocol = KGET(u16, bridge, vlan_proto);

	BECAUSE(tag_foreign(*tag, protocol), VLAN_SETTINGS);
	SOUGHT(*part, vlan_find(port, vid), EGRESS_VLAN);
	struct net_bridge_vlan *out = KOBJ(struct net_bridge_vlan, *part);
	u64 settings = vlan_settings(out);

	BECAUSE(vlan_state(settings, vid), EGRESS_VLAN);
	BECAUSE(vlan_bridge_state(vlan_of_bridge(out), vid), VLAN);
	*tag = vlan_tag_behind(settings, protocol);
	return REASON_NONE;
}

#endif
