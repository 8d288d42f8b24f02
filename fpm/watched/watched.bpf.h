/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_WATCHED_H
#define TNA_WATCHED_H

/*
 * Known unicast between two ports of a bridge, without reading anything of the kernel: the stations come
 * from fdb/mirror.bpf.h, or the bridge is asked (fdb/kfunc.bpf.h); all else that Linux would do with a
 * frame comes from tables of ports and of their VLANs that the controller keeps. See README.md beside this
 * file.
 */

#include "base/send.bpf.h"
#include "bridge/settings.bpf.h"
#ifdef TNA_FDB_KFUNC
#include "fdb/kfunc.bpf.h"
#else
#include "fdb/mirror.bpf.h"
#endif

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_watched_port);
} watched_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_watched_vlans);
} watched_vlans SEC(".maps");

/* A port's part in a VLAN (enum tna_vlan_part); nobody has one in VLAN 0. */
INLINE u32 watched_vlan_part(u32 slot, u64 vid)
{
	struct tna_watched_vlans *vlans = bpf_map_lookup_elem(&watched_vlans, &slot);

	return vlans ? vlans->parts[vid / TNA_VLANS_IN_WORD % TNA_VLAN_WORDS] >>
				       2 * (vid % TNA_VLANS_IN_WORD) &
			       3
		     : TNA_VLAN_NONE;
}

/* A frame on its way. */
struct watched_path {
	struct packet packet;
	u32 port; /* ifindex */
	u64 tag; /* of the bridge's own kind, with the VLAN that the frame belongs to; 0: no VLAN filtering */
	u64 retag;
	u32 part; /* of the ingress port in that VLAN */
};

/* The frame's VLAN, and the ingress port's part in it. */
INLINE void watched_vlan(struct watched_path *path, const struct tna_watched_port *in)
{
	path->part = TNA_VLAN_TAGGED;
	if (!in->vlan_protocol)
		return;
	path->tag = vlan_complete(vlan_tag(&path->packet, in->vlan_protocol), in->pvid);
	path->part = watched_vlan_part(in->slot, path->tag & VLAN_ID);
}

/*
 * Whether Linux is going to learn from a frame, if the port learns: not from what is dropped on the way to
 * the bridge, or goes another way (to a VLAN device, or what a protocol of its own has), nor, if it is told
 * so, from frames to link-local addresses (no_linklocal_learn).
 */
INLINE int watched_is_learnt(const struct packet *packet, const struct tna_watched_port *in)
{
	int tagged = is_vlan(packet->protocol);

	return in->ingress_reason == REASON_NONE && !(tagged && in->tag_reason != REASON_NONE) &&
	       !bridge_protocol_is_its_own(tagged ? packet->inner : packet->protocol) &&
	       (packet->destination & MAC_LINK_LOCAL_MASK) != MAC_LINK_LOCAL;
}

INLINE u32 watched_frame(const struct watched_path *path, const struct tna_watched_port *in)
{
	const struct packet *packet = &path->packet;
	int tagged = is_vlan(packet->protocol);

	BECAUSE(packet->destination & MAC_MULTICAST, MULTICAST);
	BECAUSE(!packet->source || (packet->source & MAC_MULTICAST), SOURCE_INVALID);
	if (tagged)
		UNLESS_BECAUSE(in->tag_reason);
	BECAUSE(bridge_protocol_is_special(tagged ? packet->inner : packet->protocol), PROTOCOL);
	BECAUSE(!home.mirror_complete, FDB_INCOMPLETE);
	BECAUSE(path->part < TNA_VLAN_TAGGED, VLAN);
	return REASON_NONE;
}

INLINE u32 watched_egress(struct watched_path *path, const struct tna_watched_port *in,
			  const struct tna_watched_port *out)
{
	BECAUSE(out->bridge != in->bridge, EGRESS_UNMANAGED);
	UNLESS_BECAUSE(out->egress_reason);
	BECAUSE(out->isolated & in->isolated, ISOLATED);
	if (in->vlan_protocol) {
		u32 part = watched_vlan_part(out->slot, path->tag & VLAN_ID);

		BECAUSE(part < TNA_VLAN_TAGGED, EGRESS_VLAN);
		path->retag = vlan_retag(vlan_tag(&path->packet, in->vlan_protocol), path->tag,
					 part == TNA_VLAN_UNTAGGED);
	}
	BECAUSE(retag_length(path->packet.len, path->retag) > out->max_frame, EGRESS_MTU);
	BECAUSE(retag_length(path->packet.len, path->retag) < out->min_frame, EGRESS_SHORT);
	return REASON_NONE;
}

/* Out of the port that a station is behind, with the tag that the frame is to have there. */
INLINE int watched_send(hook_context *ctx, const struct watched_path *path, const struct tna_watched_port *in,
			const struct tna_watched_port *out, u32 egress)
{
	const u16 slot = in->slot;
	const struct departure departure = {
		.in = &slot,
		.out = out->slot,
		.length = path->packet.len,
		.ifindex = egress,
		.unproved = 1,
		.retag = path->retag,
		.vlan_protocol = in->vlan_protocol,
	};
	int action = send(ctx, &departure);

	WHEN(MODULES_BRIDGE) return action;
	if (action == HOOK_SENT)
		count_forwarded(in->slot, out->slot, 1, path->packet.len);
	return action;
}

/* HOOK_SENT, or HOOK_TO_LINUX with the frame untouched. */
INLINE int watched_forward(hook_context *ctx)
{
	struct watched_path path = {.port = hook_ingress_ifindex(ctx)};
	u32 source = TNA_REASON_SOURCE_UNKNOWN, reason;
	struct fdb_answer answer = {};
	int whole = packet_parse(ctx, &path.packet);

	if (!whole && !packet_parse_short(ctx, &path.packet))
		return leave_to_linux(ctx, TNA_REASON_SHORT);
	struct tna_watched_port *in = bpf_map_lookup_elem(&watched_ports, &path.port);

	if (!in)
		return leave_to_linux(ctx, TNA_REASON_UNKNOWN_PORT);
	watched_vlan(&path, in);
	/* first, and for every frame: broadcasts and short ones move stations as well */
	if (in->learns && path.part != TNA_VLAN_NONE)
		source = fdb_source(in->bridge, path.tag & VLAN_ID, path.port, path.packet.source,
				    whole && watched_is_learnt(&path.packet, in), in->refresh);
	if (!whole)
		return leave_to_linux(ctx, TNA_REASON_SHORT);
	/* with the constant, the verifier does not come to a helper that the kernel does not have */
	if (!CONSTANT(SINGLE_BUFFER) && hook_frame_length(ctx) != path.packet.len)
		return leave_to_linux(ctx, TNA_REASON_FRAGMENTED);
	reason = in->ingress_reason;
	if (reason == REASON_NONE)
		reason = watched_frame(&path, in);
	if (reason == REASON_NONE)
		reason = source;
	if (reason == REASON_NONE)
		reason = fdb_destination(ctx, in->bridge, path.tag & VLAN_ID, &path.packet, &answer);
	if (reason != REASON_NONE)
		return leave_to_linux(ctx, reason);
	if (answer.port == path.port)
		return leave_to_linux(ctx, TNA_REASON_SAME_PORT);
	struct tna_watched_port *out = bpf_map_lookup_elem(&watched_ports, &answer.port);

	if (!out)
		return leave_to_linux(ctx, TNA_REASON_EGRESS_UNMANAGED);
	reason = watched_egress(&path, in, out);
	if (reason == REASON_NONE && fdb_objects(&answer, path.retag, in->vlan_protocol))
		reason = TNA_REASON_EGRESS_VLAN;
	if (reason != REASON_NONE)
		return leave_to_linux(ctx, reason);
	return watched_send(ctx, &path, in, out, answer.port);
}

#endif
