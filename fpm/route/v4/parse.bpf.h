/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V4_PARSE_H
#define TNA_ROUTE_V4_PARSE_H

/* A packet of IPv4 as routing sees it: where connection tracking puts in another destination, with that. */

#include "connection/translated.bpf.h"
#include "packet/ipv4.bpf.h"
#include "route/common/path.bpf.h"

/* As ipv4_parse(). */
INLINE int route_parse(hook_context *ctx, struct ipv4 *ip, const int tags)
{
	if (!ipv4_parse(ctx, ip, tags))
		return 0;
	if (CONSTANT(RULES) && unlikely(any_altered())) {
		const struct tna_translation *note = translation_note();

		if (note && note->routed[0])
			ip->tuple.addresses = note->routed[0] << 32 | (u32)ip->tuple.addresses;
	}
	return 1;
}

#endif
