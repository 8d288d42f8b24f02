/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_BOTH_WAYS_H
#define TNA_CONNECTION_BOTH_WAYS_H

/* Whether enough is known of both ways of a connection of TCP for connection tracking to be told about it. */

#include "connection/lesson.bpf.h"
#include "connection/netfilter.bpf.h"
#include "connection/passage.bpf.h"
#include "connection/rules.bpf.h"
#include "connection/through_bridge.bpf.h"

/* What was learnt of the other way of a connection, if nothing translates it. */
INLINE const volatile struct tna_lesson *lesson_back(const struct tna_passage *here, const int version)
{
	if (version == 6) {
		struct tna_ends6 back = {
			.source = {here->ends6.destination[0], here->ends6.destination[1]},
			.destination = {here->ends6.source[0], here->ends6.source[1]},
			.source_port = here->ends6.destination_port,
			.destination_port = here->ends6.source_port,
			.protocol = here->ends6.protocol,
		};

		return bpf_map_lookup_elem(&lessons6, &back);
	}
	struct tna_ends back = {.source = here->ends.destination,
				.destination = here->ends.source,
				.source_port = here->ends.destination_port,
				.destination_port = here->ends.source_port,
				.protocol = here->ends.protocol};

	return bpf_map_lookup_elem(&lessons, &back);
}

/*
 * Of both ways of a connection it is known what becomes of its invalid packets. Only then is connection
 * tracking told to call none of them so; where that depends on the devices, they have been seen.
 */
INLINE int both_ways_certain(const struct tna_passage *here, u64 entry, const struct passed *passed,
			     const volatile struct tna_judged_rules *judged, const int version)
{
	if (passed->out_port || rules_certain(own_net, judged->steady, PROTOCOL_TCP))
		return 1;
	const volatile struct tna_lesson *back = lesson_back(here, version);

	if (!back)
		return 0;
	u64 stamp = back->stamp;
	int known = back->entry == entry && back->generation == here->generation &&
		    back->serial == here->serial && back->routes == here->routes &&
		    back->invalid & INVALID_KNOWN;

	return known && back->stamp == stamp && back->stamp_again == stamp;
}

#endif
