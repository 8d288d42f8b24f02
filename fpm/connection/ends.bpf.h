/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_ENDS_H
#define TNA_CONNECTION_ENDS_H

/* Who talks to whom, with ports: what a flow is known by. */

#include <tna/connection.h>

#include "kernel/access.h"

#define PROTOCOL_UDP 17

/* As they lie in the headers. */
struct ends {
	u32 source;
	u32 destination;
	u16 source_port;
	u16 destination_port;
	u32 protocol;
};

/* Whether a packet comes from the larger of two ends. */
INLINE u32 ends_from_larger(const struct ends *ends)
{
	return ends->source != ends->destination ? ends->source > ends->destination
						 : ends->source_port > ends->destination_port;
}

INLINE void ends_key(const struct ends *ends, u32 larger, struct tna_connection_key *key)
{
	key->low = larger ? ends->destination : ends->source;
	key->high = larger ? ends->source : ends->destination;
	key->low_port = larger ? ends->destination_port : ends->source_port;
	key->high_port = larger ? ends->source_port : ends->destination_port;
	key->protocol = ends->protocol;
}

#endif
