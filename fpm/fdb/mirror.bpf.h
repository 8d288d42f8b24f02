/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_FDB_MIRROR_H
#define TNA_FDB_MIRROR_H

/*
 * The bridges' forwarding databases as Linux announces them over netlink. What this offers to the
 * watched pipeline, another way to the database can offer as well: fdb_source() and fdb_destination()
 * give a reason for Linux, or REASON_NONE.
 *
 * The announcement of a move takes a moment. But the frame that makes Linux move a station came through
 * here: from then on its frames are Linux's, until what was announced and what was seen agree again.
 */

#include "packet/packet.bpf.h"
#include "base/ports.bpf.h"

/* The controller makes both as large as the configuration says. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, struct tna_station_key);
	__type(value, struct tna_station);
} stations SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_station_use);
} station_uses SEC(".maps");

/* The VLAN id is 0 where the bridge does not filter VLANs. */
INLINE struct tna_station *station_find(u32 bridge, u64 vid, u64 mac)
{
	struct {
		u32 bridge;
		u16 words[4];
	} key = {.bridge = bridge, .words = {(u16)vid, (u16)mac, (u16)(mac >> 16), (u16)(mac >> 32)}};

	_Static_assert(sizeof(key) == sizeof(struct tna_station_key), "the same layout, in words");
	return bpf_map_lookup_elem(&stations, &key);
}

/*
 * What a frame's source means; to be called for every frame that Linux may learn from, whatever becomes
 * of it. Remembers a station that turned up elsewhere. If Linux may as well not learn from this frame
 * (!sure), nobody knows where the station is until a frame comes from which it does. Not less than one frame
 * in each interval from which Linux is sure to learn goes to it, so that its entry never ages out while in
 * use; nothing else refreshes it, so that nothing undoes a move.
 */
INLINE u32 fdb_source(u32 bridge, u64 vid, u32 port, u64 mac, int sure, u64 refresh)
{
	struct tna_station *station = station_find(bridge, vid, mac);

	if (!station)
		return TNA_REASON_SOURCE_UNKNOWN;
	if (station->flags & TNA_STATION_LOCAL)
		return TNA_REASON_SOURCE_INVALID;
	u32 index = station->use;
	struct tna_station_use *use = bpf_map_lookup_elem(&station_uses, &index);

	if (!use)
		return TNA_REASON_SOURCE_UNKNOWN;
	u32 seen_on = use->seen_on;

	if (station->port != port && (station->flags & TNA_STATION_STICKY))
		return TNA_REASON_SOURCE_UNKNOWN;
	if (station->port != port || (seen_on && seen_on != port)) {
		use->seen_on = sure ? port : TNA_SEEN_NOWHERE;
		return TNA_REASON_SOURCE_UNKNOWN;
	}
	if (station->flags & TNA_STATION_INACTIVE)
		return TNA_REASON_SOURCE_AGED;
	u64 now = bpf_ktime_get_coarse_ns();

	if (now - use->refreshed <= refresh)
		return REASON_NONE;
	if (sure)
		use->refreshed = now;
	return TNA_REASON_SOURCE_AGED;
}

struct fdb_answer {
	u32 port; /* ifindex */
};

/* The port where the destination is. */
INLINE u32 fdb_destination(hook_context *ctx, u32 bridge, u64 vid, const struct packet *packet,
			   struct fdb_answer *answer)
{
	struct tna_station *station = station_find(bridge, vid, packet->destination);

	if (!station)
		return TNA_REASON_UNKNOWN_UNICAST;
	if (station->flags & TNA_STATION_LOCAL)
		return TNA_REASON_LOCAL;
	u32 index = station->use;
	struct tna_station_use *use = bpf_map_lookup_elem(&station_uses, &index);

	if (!use)
		return TNA_REASON_UNKNOWN_UNICAST;
	if (use->seen_on && use->seen_on != station->port)
		return TNA_REASON_STATION_MOVED;
	answer->port = station->port;
	return REASON_NONE;
}

/* What becomes of the tag the mirror does not know. */
INLINE u64 fdb_objects(const struct fdb_answer *answer, u64 retag, u32 vlan_protocol)
{
	return 0;
}

#endif
