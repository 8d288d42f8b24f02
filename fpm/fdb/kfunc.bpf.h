/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_FDB_KFUNC_H
#define TNA_FDB_KFUNC_H

/*
 * The bridge itself is asked where a frame goes, by the kfunc of kernel-patches/: stations, port states and
 * VLANs are Linux's own, as of this frame, and nothing has to be followed. The same interface as that of
 * fdb/mirror.bpf.h.
 */

#include <tna/br_fdb_lookup.h>

#include "packet/packet.bpf.h"
#include "base/ports.bpf.h"

extern int bpf_xdp_br_fdb_lookup(struct xdp_md *ctx, struct bpf_br_fdb_lookup *params, u32 params__sz) __ksym;

/* Nothing has to be remembered of frames that are left to Linux: it learns from them. */
INLINE u32 fdb_source(u32 bridge, u64 vid, u32 port, u64 mac, int sure, u64 refresh)
{
	return REASON_NONE;
}

INLINE u32 fdb_reason(int answer)
{
	switch (answer) {
	case BPF_BR_FDB_RET_FORWARD:
		return REASON_NONE;
	case BPF_BR_FDB_RET_LOCAL:
		return TNA_REASON_LOCAL;
	case BPF_BR_FDB_RET_FLOOD:
		return TNA_REASON_UNKNOWN_UNICAST;
	case BPF_BR_FDB_RET_LEARN:
		return TNA_REASON_SOURCE_UNKNOWN;
	case BPF_BR_FDB_RET_BLOCKED:
		return TNA_REASON_PORT_STATE;
	case BPF_BR_FDB_RET_NO_EGRESS:
		return TNA_REASON_EGRESS_STATE;
	case BPF_BR_FDB_RET_NO_PORT:
		return TNA_REASON_NOT_A_PORT;
	default: /* BPF_BR_FDB_RET_SKB, and what the kernel does not know */
		return TNA_REASON_BRIDGE_OPTIONS;
	}
}

/* Word by word, as the stack has to be written. */
INLINE void fdb_address(u16 *words, u64 mac)
{
	words[0] = mac;
	words[1] = mac >> 16;
	words[2] = mac >> 32;
}

struct fdb_answer {
	u32 port; /* ifindex */
	u32 tag;  /* enum bpf_br_fdb_tag */
	u32 vlan;
	u32 tpid;
};

/*
 * The port that the bridge would send the frame out of, and with which tag. It refreshes the source as the
 * bridge does: Linux would have done so with this frame, whatever else it is left to Linux for.
 */
INLINE u32 fdb_destination(hook_context *ctx, u32 bridge, u64 vid, const struct packet *packet,
			   struct fdb_answer *answer)
{
	struct bpf_br_fdb_lookup way = {};

	fdb_address((u16 *)way.src, packet->source);
	fdb_address((u16 *)way.dst, packet->destination);
	if (is_vlan(packet->protocol)) {
		way.vlan_proto = packet->protocol;
		way.vid = bpf_ntohs(packet->behind) & VLAN_ID;
	}
	u32 reason = fdb_reason(bpf_xdp_br_fdb_lookup(ctx, &way, sizeof(way)));

	answer->port = way.ifindex;
	answer->tag = way.tag;
	answer->vlan = way.vlan;
	answer->tpid = way.tpid;
	return reason;
}

/*
 * Whether the bridge would do something else to the tag than the table of VLANs says, which is behind by
 * a moment.
 */
INLINE u64 fdb_objects(const struct fdb_answer *answer, u64 retag, u32 vlan_protocol)
{
	switch (answer->tag) {
	case BPF_BR_FDB_TAG_KEEP:
		return retag & RETAG_ANY;
	case BPF_BR_FDB_TAG_PUSH:
		return ((retag & (RETAG_ANY | VLAN_ID)) ^ (RETAG_PUSH | answer->vlan)) |
		       (vlan_protocol ^ answer->tpid);
	case BPF_BR_FDB_TAG_POP:
		return (retag & RETAG_ANY) ^ RETAG_POP;
	default:
		return (retag & (RETAG_ANY | VLAN_ID)) ^ (RETAG_WRITE | answer->vlan);
	}
}

#endif
