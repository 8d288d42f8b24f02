/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BRIDGE_EVALUATE_H
#define TNA_BRIDGE_EVALUATE_H

/*
 * What Linux would do with a frame, evaluated from nothing: every test one by one, each with its
 * reason. Runs for frames that bridge_forward() could not prove; either there is a reason to leave the
 * frame to Linux, or the flow cache learns where the proof's parts lie.
 */

#include "bridge/own_rules.bpf.h"
#include "bridge/rules.bpf.h"
#include "bridge/settings.bpf.h"
#include "fdb/fdb.bpf.h"
#include "guards/below.bpf.h"
#include "guards/bridge_netfilter.bpf.h"
#include "guards/devices.bpf.h"
#include "guards/egress.bpf.h"
#include "guards/namespace.bpf.h"
#include "guards/netdev_hook.bpf.h"
#include "guards/peer.bpf.h"
#include "guards/qdisc.bpf.h"
#include "guards/sender.bpf.h"
#include "guards/tc.bpf.h"
#include "base/reason.bpf.h"
#include "base/self_check.bpf.h"

/* What a frame meets on its way, by address. */
struct bridge_path {
	u64 device;
	u64 port;
	u64 bridge;
	u64 source;
	u64 destination;
	u64 egress_port;
	u64 egress;
	u64 tag; /* of the bridge's own kind, with the VLAN that the frame belongs to; 0 without VLAN
		    filtering */
	struct tna_flow_vlans vlans;
	u64 retag; /* what becomes of the tag at egress */
};

INLINE u32 evaluate_ingress(const struct bridge_path *path, u64 buffer)
{
	struct net_device *ingress = KOBJ(struct net_device, path->device);

	BECAUSE(guard_namespace(ingress, CONSTANT(NET)), NAMESPACE);
	BECAUSE(!(BPF_CORE_READ_BITFIELD(ingress, priv_flags) & IFF_BRIDGE_PORT), NOT_A_PORT);
	if (!HOOK_WITHIN_LINUX) {
		BECAUSE(capture_of_device(path->device), CAPTURE);
		BECAUSE(capture_of_namespace(CONSTANT(NET)), CAPTURE);
	}
	BECAUSE(guard_tc_port_busy(ingress), TC);
	BECAUSE(guard_netdev_ingress(ingress), NETDEV_HOOK);
	BECAUSE(buffer && guard_hidden_tag(buffer), HIDDEN_TAG);
	BECAUSE(buffer && guard_unfinished_checksum(buffer), CHECKSUM);
	BECAUSE(buffer && guard_sender_marks(buffer), MARKED);
	return REASON_NONE;
}

/* `calls`: whether it matters that br_netfilter calls rules. */
INLINE u32 evaluate_bridge(const struct bridge_path *path, int calls)
{
	struct net_bridge_port *in = KOBJ(struct net_bridge_port, path->port);
	struct net_bridge *bridge = KOBJ(struct net_bridge, path->bridge);

	BECAUSE(bridge_options(bridge, !!CONSTANT(VLAN)), BRIDGE_OPTIONS);
	BECAUSE(bridge_promisc(path->bridge, bridge), BRIDGE_PROMISC);
	if (!OWN_RULES) /* asked last of all, too */
		BECAUSE(bridge_hooks_revalidate(&home), NETFILTER);
	BECAUSE(calls && CONSTANT(BR_NETFILTER) && guard_br_netfilter(CONSTANT(BRNF)), BR_NETFILTER);
	BECAUSE(bridge_port_state(in), PORT_STATE);
	BECAUSE(bridge_port_flags(KGET(u64, in, flags)), PORT_FLAGS);
	return REASON_NONE;
}

INLINE u32 evaluate_frame(hook_context *ctx, const struct packet *packet, u64 device)
{
	BECAUSE(packet->destination & MAC_MULTICAST, MULTICAST);
	BECAUSE(!packet->source || (packet->source & MAC_MULTICAST), SOURCE_INVALID);
	BECAUSE(bridge_tagged_to_vlan_device(packet->protocol, KOBJ(struct net_device, device)), VLAN_DEVICE);
	BECAUSE(bridge_frame_is_special(ctx, packet->protocol), PROTOCOL);
	return REASON_NONE;
}

INLINE u32 evaluate_source(const struct bridge_path *path)
{
	struct net_bridge_fdb_entry *from = KOBJ(struct net_bridge_fdb_entry, path->source);

	BECAUSE(KGET(u64, from, dst) != path->port, SOURCE_UNKNOWN);
	BECAUSE(KGET(u64, from, flags) & (FDB_LOCAL | FDB_LOCKED), SOURCE_INVALID);
	BECAUSE(KGET(u64, from, flags) & FDB_NOTIFY_INACTIVE, SOURCE_AGED);
	BECAUSE(bpf_jiffies64() - KGET(u64, from, updated) >
			bridge_refresh_age(KOBJ(struct net_bridge, path->bridge)),
		SOURCE_AGED);
	return REASON_NONE;
}

/* The frame's VLAN, and the ingress port's part in it. */
INLINE u32 evaluate_vlan(const struct packet *packet, struct bridge_path *path)
{
	path->tag = vlan_complete(vlan_tag(packet, CONSTANT(VLAN)),
				  vlan_pvid(KOBJ(struct net_bridge_port, path->port)));
	SOUGHT(path->vlans.ingress, vlan_find(path->port, path->tag & VLAN_ID), VLAN);
	BECAUSE(vlan_state(vlan_settings(KOBJ(struct net_bridge_vlan, path->vlans.ingress)),
			   path->tag & VLAN_ID),
		VLAN);
	return REASON_NONE;
}

/* The egress port's part in the frame's VLAN, and what becomes of the tag there. */
INLINE u32 evaluate_egress_vlan(const struct packet *packet, struct bridge_path *path)
{
	SOUGHT(path->vlans.egress, vlan_find(path->egress_port, path->tag & VLAN_ID), EGRESS_VLAN);
	u64 settings = vlan_settings(KOBJ(struct net_bridge_vlan, path->vlans.egress));

	BECAUSE(vlan_state(settings, path->tag & VLAN_ID), EGRESS_VLAN);
	path->retag = vlan_retag(vlan_tag(packet, CONSTANT(VLAN)), path->tag, vlan_untagged(settings));
	return REASON_NONE;
}

INLINE u32 evaluate_stations(const struct packet *packet, struct bridge_path *path)
{
	u64 vlan = (path->tag & VLAN_ID) << 48;

	struct search from, to_whom;

	fdb_find_both(path->bridge, packet->source | vlan, packet->destination | vlan, &from, &to_whom);
	SOUGHT(path->source, from, SOURCE_UNKNOWN);
	UNLESS_BECAUSE(evaluate_source(path));
	SOUGHT(path->destination, to_whom, UNKNOWN_UNICAST);
	struct net_bridge_fdb_entry *to = KOBJ(struct net_bridge_fdb_entry, path->destination);

	BECAUSE(KGET(u64, to, flags) & FDB_LOCAL, LOCAL);
	path->egress_port = KGET(u64, to, dst);
	return REASON_NONE;
}

INLINE u32 evaluate_egress_port(struct bridge_path *path)
{
	struct net_bridge_port *out = KOBJ(struct net_bridge_port, path->egress_port);
	u64 in_flags = KLOAD(u64, KADDR(struct net_bridge_port, path->port, flags));

	path->egress = KGET(u64, out, dev);
	BECAUSE(path->port == path->egress_port, SAME_PORT);
	BECAUSE(bridge_port_state(out), EGRESS_STATE);
	BECAUSE(bridge_egress_flags(out, 0), EGRESS_FLAGS);
	BECAUSE(bridge_egress_flags(out, in_flags), ISOLATED);
	BECAUSE(bridge_port_offloaded(path->port) || bridge_port_offloaded(path->egress_port), SWITCHDEV);
	return REASON_NONE;
}

/*
 * `len` is 0 for what is several frames yet: it fits, whatever the MTU (is_skb_forwardable()). Where Linux
 * itself sends, what is bridged comes out as it would; a router has the route, another device as that by
 * which it came, and no socket of the sender, which filters and disciplines may look at.
 */
INLINE u32 evaluate_egress(const struct bridge_path *path, u32 len, const int routed)
{
	struct net_device *egress = KOBJ(struct net_device, path->egress);

	if (!HOOK_WITHIN_LINUX)
		BECAUSE(capture_of_device(path->egress), CAPTURE);
	if (!HOOK_WITHIN_LINUX || routed)
		BECAUSE(guard_tc_entry_busy(guard_tc_egress(egress)), TC);
	BECAUSE(guard_netdev_egress(egress), NETDEV_HOOK);
	BECAUSE(guard_egress_down(egress), EGRESS_DOWN);
	BECAUSE(guard_egress_mtu(egress, len), EGRESS_MTU);
	BECAUSE(guard_peer_generic_xdp(path->egress), GENERIC_XDP);
	BECAUSE(routed ? guard_way_out(path->egress, 0) : guard_below(path->egress, 0), STACKED);
	if (HOOK_WITHIN_LINUX && !routed)
		return REASON_NONE;
	BECAUSE(guard_egress_qdisc(egress) && guard_egress_qdisc_list(path->egress, 0), EGRESS_QDISC);
	BECAUSE(guard_egress_redirect(egress), EGRESS_REDIRECT);
	return REASON_NONE;
}

INLINE u32 bridge_mark(const struct packet *packet, u32 epoch)
{
	return flow_mark(flow_hash(packet->destination, packet->source), epoch);
}

/* Remembers where the parts of the proof lie; each frame looks there again. */
INLINE u32 evaluate_fill(struct tna_flow *flow, const struct bridge_path *path, u32 mark, u32 len)
{
	s32 in = port_slot(KLOAD(u32, KADDR(struct net_device, path->device, ifindex)));
	s32 out = port_slot_out(KLOAD(u32, KADDR(struct net_device, path->egress, ifindex)), len);

	BECAUSE(in < 0, UNKNOWN_PORT);
	if (out < 0)
		return ~out;
	if (flow->in_slot != in || flow->out_slot != out)
		flow_evict(flow);
	flow->source = path->source;
	flow->destination = path->destination;
	flow->ingress_port = path->port;
	flow->egress_dev = path->egress;
	flow->in_slot = in;
	flow->out_slot = out;
	flow->mark = mark;
	flow->fresh_until = KLOAD(u64, KADDR(struct net_bridge_fdb_entry, path->source, updated)) +
			    bridge_refresh_age(KOBJ(struct net_bridge, path->bridge));
	return REASON_NONE;
}

INLINE void evaluate_fill_vlans(const struct packet *packet, const struct bridge_path *path)
{
	u32 index =
		flow_index(packet->destination, packet->source, vlan_tag(packet, CONSTANT(VLAN)) & VLAN_ID);

	if (index < FLOWS_TOTAL)
		*flow_vlans_at(index) = path->vlans;
}

/* What an evaluation says beside its reason: what becomes of the frame's tag. In one number, since a place to
 * put it would be on the stack. */
INLINE u64 evaluated_retag(u64 evaluated)
{
	return evaluated >> 32;
}

/*
 * A reason to leave the frame to Linux; or none, and the flow is filled in, and it is said what becomes of
 * the frame's tag.
 */
NOINLINE u64 bridge_evaluate(hook_context *ctx, struct tna_flow *flow)
{
	hook_buffer *buffer = hook_kernel_buffer(ctx);
	struct bridge_path path = {.device = hook_ingress_device(buffer)};
	u32 epoch = home.epoch, len; /* before anything is looked up */
	struct packet packet;

	BECAUSE(!packet_parse(ctx, &packet), SHORT);
	BECAUSE(self_check_paused(TNA_CHECKED_BRIDGE), SELF_CHECK);
	if (hook_frame_unfit(ctx, buffer))
		return HOOK_UNFIT;
	BECAUSE(hook_frame_differs(ctx, buffer), MODULE_CHANGED);
	UNLESS_BECAUSE(evaluate_ingress(&path, CONSTANT(VETH) ? hook_sender_buffer(buffer) : 0));
	path.port = KLOAD(u64, KADDR(struct net_device, path.device, rx_handler_data));
	path.bridge = KLOAD(u64, KADDR(struct net_bridge_port, path.port, br));
	UNLESS_BECAUSE(evaluate_bridge(&path, !BRIDGE_RULES)); /* what they say is asked last of all */
	UNLESS_BECAUSE(evaluate_frame(ctx, &packet, path.device));
	if (CONSTANT(VLAN) && VLAN_KNOWN) {
		BECAUSE(vlan_foreign_beside(ctx), HIDDEN_TAG);
		UNLESS_BECAUSE(evaluate_vlan(&packet, &path));
	}
	UNLESS_BECAUSE(evaluate_stations(&packet, &path));
	UNLESS_BECAUSE(evaluate_egress_port(&path));
	if (CONSTANT(VLAN) && VLAN_KNOWN)
		UNLESS_BECAUSE(evaluate_egress_vlan(&packet, &path));
	len = retag_length(packet.len, path.retag);
	UNLESS_BECAUSE(evaluate_egress(&path, hook_is_several(ctx) ? 0 : len, 0));
	BECAUSE(!flow, SHORT);
	if (CONSTANT(VLAN))
		evaluate_fill_vlans(&packet, &path);
	UNLESS_BECAUSE(evaluate_fill(flow, &path, bridge_mark(&packet, epoch), len));
	return path.retag << 32 | REASON_NONE;
}

#endif
