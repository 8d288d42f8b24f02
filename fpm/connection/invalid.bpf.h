/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_INVALID_H
#define TNA_CONNECTION_INVALID_H

/* Segments of fast connections that connection tracking would have called invalid, had it not been told to
 * mind no windows: they end where the rules, or Linux, would have dropped them. */

#include "connection/follow.bpf.h"
#include "connection/for_arrival.bpf.h"
#include "connection/netfilter.bpf.h"
#include "connection/rules.bpf.h"
#include "connection/through_bridge.bpf.h"

/* Segments, and what is behind headers that nobody looks at; errors about them are none. */
INLINE int concerns_stream(u64 header, u64 tracked, const int version)
{
	return tracked_protocol(tracked & ~CONNECTION_INFO) == PROTOCOL_TCP &&
	       (header_protocol(header, version) == PROTOCOL_TCP || is_established(tracked));
}

/* One that is routed would perhaps have had another mark, or none, without its connection. */
INLINE u32 would_be_marked_otherwise(struct sk_buff *skb, const int version)
{
	return (KGET(u32, skb, mark) && routes_ask_for_marks(own_net, version)) ||
	       may_be_routed_by_mark(own_net, judged_rules(version), version);
}

/*
 * What connection tracking would have called invalid, had it not been told to mind no windows, comes out only
 * where it is known that the rules let such packets pass between these devices. One that is translated, or
 * routed by a mark, would have gone elsewhere.
 */
NOINLINE int lets_invalid_pass(struct bpf_nf_ctx *ctx, int version)
{
	struct sk_buff *skb = KCAST(struct sk_buff, ctx->skb);
	struct nf_hook_state *state = KCAST(struct nf_hook_state, ctx->state);
	u64 tracked = KGET(u64, skb, _nfct);
	struct passed passed = {.from = KGET(u64, state, in), .to = KGET(u64, state, out)};

	if (tracked_steps(tracked & ~CONNECTION_INFO, tracked_direction(tracked)) ||
	    !rules_are_known(own_net, judged_rules(version), version) ||
	    !rules_steady(judged_rules(version), PROTOCOL_TCP)) /* those of its connection have treated it */
		return 0;
	if (passed.from && would_be_marked_otherwise(skb, version)) /* from none, where a bridge sends it */
		return 0;
	return judged_rules(version)->steady & TNA_INVALID_PASSED ||
	       (passed_devices(skb, bridge_noted(skb), own_net, &passed) &&
		invalid_becomes(&passed, version) & TNA_INVALID_PASSED);
}

/*
 * Behind all of pre-routing, where connection tracking has seen a segment, whatever rules do with it from
 * there on: it is noted, once. What connection tracking would have called invalid there, and what may be
 * dropped then before anybody asks for its hops or its size, must not come further, or its sender is told of
 * those: it is dropped anyway.
 * Nor one that may be routed by a mark; what comes by a bridge that has called the rules need not be routed.
 */
INLINE int came(struct bpf_nf_ctx *ctx, const int version)
{
	struct sk_buff *skb = KCAST(struct sk_buff, ctx->skb);
	u64 tracked = KGET(u64, skb, _nfct), entry = tracked & ~CONNECTION_INFO, header = header_of(skb);
	volatile struct tna_judged_rules *judged = judged_rules(version);

	if (!entry || !concerns_stream(header, tracked, version) ||
	    stream_follow(ctx, length_before_tcp(ctx, version), tracked, own_net) != FOLLOWED_INVALID)
		return NF_ACCEPT;
	if (tracked_steps(entry, tracked_direction(tracked)) & TNA_ANOTHER_DESTINATION)
		return NF_DROP;
	if (!bridge_noted(skb) && would_be_marked_otherwise(skb, version))
		return NF_DROP;
	u32 becomes = judged->steady;

	if (!(becomes & INVALID_KNOWN))
		becomes = invalid_on_the_way(KGET(u64, KCAST(struct nf_hook_state, ctx->state), in), 0,
					     version);
	return becomes & TNA_INVALID_SOME_EARLY && rules_are_known(own_net, judged, version) ? NF_DROP
											     : NF_ACCEPT;
}

#endif
