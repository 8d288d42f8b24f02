/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_UNTRACKED_H
#define TNA_CONNECTION_UNTRACKED_H

/* Flows that connection tracking does not see: of which a lesson is made, and that the packet has not
 * changed. */

#include "connection/passage.bpf.h"
#include "connection/rules.bpf.h"
#include "connection/tracked.bpf.h"
#include "kernel/loop.bpf.h"

/* Rules treat alike all packets in the middle of a flow that belong to no connection: they have exempted them
 * from connection tracking, or nobody tracks connections. */
INLINE u32 rules_steady_untracked(const volatile struct tna_judged_rules *judged, u64 tracked, u32 protocol)
{
	u32 exempt = judged->steady & (protocol == PROTOCOL_TCP ? TNA_EXEMPT_TCP : TNA_EXEMPT_UDP);

	return tracked == CONNECTION_EXEMPT || (!tracked && judged->steady & TNA_UNTRACKED) ? exempt : 0;
}

/*
 * Flows that nobody tracks, as remembered for a while by a number of theirs. Two may have the same: then the
 * first packet of the second one is a lesson, which is no harm.
 */
#define PASSED_ONCE_LOG 12

__u32 passed_once[1 << PASSED_ONCE_LOG];

/* What passes once only, such as the packets of who looks for open ports, is not worth the place of others.
 */
INLINE int has_passed_before(const struct tna_translation *ends, u32 protocol)
{
	u64 mixed = (u64)protocol << 32 | (u32)ends->source_port << 16 | ends->destination_port;

	EACH (index, 2) {
		mixed = (mixed ^ ends->source[index]) * 0x9e3779b97f4a7c15ull;
		mixed = (mixed ^ mixed >> 32 ^ ends->destination[index]) * 0x9e3779b97f4a7c15ull;
	}
	volatile __u32 *place = &passed_once[mixed >> (64 - PASSED_ONCE_LOG)];
	u32 number = mixed | 1;

	if (*place == number)
		return 1;
	*place = number;
	return 0;
}

/* The ends that the packet set out with, as those that it is to leave with. */
INLINE void leaves_as_it_came(struct tna_passage *here, const int version)
{
	struct tna_translation *leaves = &here->leaves;

	leaves->steps = 0;
	if (version == 6) {
		EACH (index, 2) {
			leaves->source[index] = here->ends6.source[index];
			leaves->destination[index] = here->ends6.destination[index];
		}
		leaves->source_port = here->ends6.source_port;
		leaves->destination_port = here->ends6.destination_port;
	} else {
		leaves->source[0] = here->ends.source;
		leaves->destination[0] = here->ends.destination;
		leaves->source[1] = leaves->destination[1] = 0;
		leaves->source_port = here->ends.source_port;
		leaves->destination_port = here->ends.destination_port;
	}
}

/* The ends of the packet are not those that it is to have. */
INLINE u64 header_differs(u64 header, const struct tna_translation *leaves, const int version)
{
	u64 word;

	if (version == 6) {
		struct tna_ends6 ends = packet_ends6(header, 0);

		word = destination_differs(leaves, &ends, 6);
		return word | source_differs(leaves, &ends, 6);
	}
	struct tna_ends ends = packet_ends(header, 0);

	word = destination_differs(leaves, &ends, 4);
	return word | source_differs(leaves, &ends, 4);
}

#endif
