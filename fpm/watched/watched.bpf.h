/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_WATCHED_H
#define TNA_WATCHED_H

/*
 * Known unicast between two ports of a bridge, without reading anything of the kernel: the stations come
 * from fdb/mirror.bpf.h, or the bridge is asked (fdb/kfunc.bpf.h); all else that Linux would do with a
 * frame comes from a table of ports that the controller keeps. See README.md beside this file.
 */

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

INLINE u32 watched_frame(const struct packet *packet)
{
	if (packet->destination & MAC_MULTICAST)
		return TNA_REASON_MULTICAST;
	if (!packet->source || (packet->source & MAC_MULTICAST))
		return TNA_REASON_SOURCE_INVALID;
	if (is_vlan(packet->protocol))
		return TNA_REASON_TAGGED;
	if (bridge_protocol_is_special(packet->protocol))
		return TNA_REASON_PROTOCOL;
	return REASON_NONE;
}

INLINE u32 watched_egress(const struct tna_watched_port *in, const struct tna_watched_port *out, u32 len)
{
	if (out->bridge != in->bridge)
		return TNA_REASON_EGRESS_UNMANAGED;
	if (out->egress_reason != REASON_NONE)
		return out->egress_reason;
	if (out->isolated & in->isolated)
		return TNA_REASON_ISOLATED;
	if (len > out->max_frame)
		return TNA_REASON_EGRESS_MTU;
	return REASON_NONE;
}

INLINE void watched_count(u32 in, u32 out, u32 len)
{
	struct tna_port_counters *counters = bpf_map_lookup_elem(&port_counters, &in);

	if (counters) {
		counters->in_packets++;
		counters->in_bytes += len;
	}
	counters = bpf_map_lookup_elem(&port_counters, &out);
	if (counters) {
		counters->out_packets++;
		counters->out_bytes += len;
	}
}

/* XDP_REDIRECT, or XDP_PASS with the frame untouched. */
INLINE int watched_forward(struct xdp_md *ctx)
{
	u32 port = ctx->ingress_ifindex, egress = 0, reason;
	struct packet packet;

	if (!packet_parse(ctx, &packet))
		return leave_to_linux(ctx, TNA_REASON_SHORT);
	if (bpf_xdp_get_buff_len(ctx) != packet.len)
		return leave_to_linux(ctx, TNA_REASON_FRAGMENTED);
	struct tna_watched_port *in = bpf_map_lookup_elem(&watched_ports, &port);

	if (!in)
		return leave_to_linux(ctx, TNA_REASON_UNKNOWN_PORT);
	/* first, and for every frame: broadcasts move stations as well */
	u32 source = in->learns ? fdb_source(in->bridge, port, packet.source, in->refresh)
				: TNA_REASON_SOURCE_UNKNOWN;

	reason = in->ingress_reason;
	if (reason == REASON_NONE)
		reason = watched_frame(&packet);
	if (reason == REASON_NONE && !home.mirror_complete)
		reason = TNA_REASON_FDB_INCOMPLETE;
	if (reason == REASON_NONE)
		reason = source;
	if (reason == REASON_NONE)
		reason = fdb_destination(ctx, in->bridge, &packet, &egress);
	if (reason != REASON_NONE)
		return leave_to_linux(ctx, reason);
	if (egress == port)
		return leave_to_linux(ctx, TNA_REASON_SAME_PORT);
	struct tna_watched_port *out = bpf_map_lookup_elem(&watched_ports, &egress);

	if (!out)
		return leave_to_linux(ctx, TNA_REASON_EGRESS_UNMANAGED);
	reason = watched_egress(in, out, packet.len);
	if (reason != REASON_NONE)
		return leave_to_linux(ctx, reason);
	watched_count(in->slot, out->slot, packet.len);
	return bpf_redirect_map(&egress_ports, out->slot, XDP_PASS);
}

#endif
