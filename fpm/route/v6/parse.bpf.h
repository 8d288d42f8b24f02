/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_V6_PARSE_H
#define TNA_ROUTE_V6_PARSE_H

/* What v4/parse.bpf.h is for IPv4. */

#include "connection/translated.bpf.h"
#include "packet/ipv6.bpf.h"
#include "route/common/path.bpf.h"

/* As ipv6_parse(). */
INLINE int route6_parse(hook_context *ctx, struct ipv6 *ip, const int tags)
{
	if (!ipv6_parse(ctx, ip, tags))
		return 0;
	if (CONSTANT(RULES) && unlikely(any_altered())) {
		const struct tna_translation *note = translation_note();

		if (note && (note->routed[0] | note->routed[1])) {
			ip->tuple.destination.prefix = note->routed[0];
			ip->tuple.destination.rest = note->routed[1];
		}
	}
	return 1;
}

#endif
