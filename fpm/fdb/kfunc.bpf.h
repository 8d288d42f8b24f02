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
#include "pipeline/ports.bpf.h"

extern int bpf_xdp_br_fdb_lookup(struct xdp_md *ctx, struct bpf_br_fdb_lookup *params, u32 params__sz) __ksym;

/* Nothing has to be remembered of frames that are left to Linux: it learns from them. */
INLINE u32 fdb_source(u32 bridge, u32 port, u64 mac, u64 refresh)
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

/*
 * The ifindex of the port that the bridge would send the frame out of. It refreshes the source as the
 * bridge does: Linux would have done so with this frame, whatever else it is left to Linux for.
 */
INLINE u32 fdb_destination(struct xdp_md *ctx, u32 bridge, const struct packet *packet, u32 *port)
{
	struct bpf_br_fdb_lookup way = {};

	fdb_address((u16 *)way.src, packet->source);
	fdb_address((u16 *)way.dst, packet->destination);
	u32 reason = fdb_reason(bpf_xdp_br_fdb_lookup(ctx, &way, sizeof(way)));

	/* the profile's bridge does not filter VLANs; one that does by now would change the frame */
	if (reason == REASON_NONE && way.tag != BPF_BR_FDB_TAG_KEEP)
		return TNA_REASON_VLAN;
	*port = way.ifindex;
	return reason;
}

#endif
