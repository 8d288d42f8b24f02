/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_SWEEP_H
#define TNA_CONNECTION_SWEEP_H

/* Makes room for other connections of TCP, of which there are only so many: what is known of those goes whose
 * entries are gone. Of others it must stay, for Linux minds no windows of them. */

#include "connection/follow.bpf.h"

struct bpf_map;

static long sweep_one(struct bpf_map *map, const u64 *entry, const struct tna_stream *stream, void *unused)
{
	if (stream_differs(stream, *entry) || tracked_over(*entry))
		bpf_map_delete_elem(map, entry);
	return 0;
}

#endif
