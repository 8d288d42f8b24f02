/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_PASSAGE_H
#define TNA_CONNECTION_PASSAGE_H

/* Packets on their way through the rules: how each of them set out. */

#include <tna/connection.h>

#include "connection/lesson.bpf.h"
#include "connection/netfilter.bpf.h"
#include "connection/rules.bpf.h"

/*
 * Under load, packets set out several at a time (net.core.gro_normal_batch, or as many as a driver polls)
 * before the first of them arrives. Each has a place by its buffer, which stays the same on the way, while
 * its bytes may be moved (skb_cow() of a clone); two of the same place are one lesson less.
 */
#define PASSAGES_LOG 6

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1 << PASSAGES_LOG);
	__type(key, u32);
	__type(value, struct tna_passage);
} passage SEC(".maps");

INLINE struct tna_passage *passage_of(struct bpf_nf_ctx *ctx)
{
	/* a number: the verifier lets nobody reckon with pointers, but for their differences */
	u64 buffer = (u64)ctx->skb - (u64)kernel_object(0);
	u32 place = buffer * 0x9e3779b97f4a7c15ull >> (64 - PASSAGES_LOG);

	return bpf_map_lookup_elem(&passage, &place);
}

/* Type of service, or version, class and label. */
INLINE u32 header_service(u64 header, const int version)
{
	return version == 6 ? KLOAD(u32, header) : KLOAD(u8, header + 1);
}

/* Time to live and protocol. */
INLINE u32 header_hops(u64 header, const int version)
{
	return version == 6 ? KLOAD(u16, header + 6) : KLOAD(u16, header + 8);
}

/* One hop, as it is in there. */
#define HEADER_HOP(version) ((version) == 6 ? 0x100u : 1u)

INLINE struct tna_ends packet_ends(u64 header, u32 protocol)
{
	return (struct tna_ends){.source = KLOAD(u32, header + 12),
				 .destination = KLOAD(u32, header + 16),
				 .source_port = KLOAD(u16, header + 20),
				 .destination_port = KLOAD(u16, header + 22),
				 .protocol = protocol};
}

INLINE struct tna_ends6 packet_ends6(u64 header, u32 protocol)
{
	return (struct tna_ends6){.source = {KLOAD(u64, header + 8), KLOAD(u64, header + 16)},
				  .destination = {KLOAD(u64, header + 24), KLOAD(u64, header + 32)},
				  .source_port = KLOAD(u16, header + 40),
				  .destination_port = KLOAD(u16, header + 42),
				  .protocol = protocol};
}

/* The mark of the connection, before rules look at it: its entry is known from an earlier packet. */
INLINE void note_connection_mark(struct tna_passage *here, const int version)
{
	const struct tna_lesson *before = version == 6 ? bpf_map_lookup_elem(&lessons6, &here->ends6)
						       : bpf_map_lookup_elem(&lessons, &here->ends);

	here->entry = before ? before->entry : 0;
	here->connection_mark = here->entry ? tracked_mark(here->entry) : 0;
}

/* Not like those that the fast path takes: one that is tracked already, exempt or marked (by tc, say); or a
 * fragment, which some rules see before it is put together with others. (Of IPv6, it is told by its header.)
 */
INLINE u64 sets_out_unlike(struct sk_buff *skb, u64 header, const int version)
{
	u64 word = KGET(u64, skb, _nfct);

	COLLECT(word, KGET(u32, skb, mark));
	COLLECT(word, version == 4 ? KLOAD(u16, header + 6) & IPV4_FRAGMENT : 0);
	return word;
}

INLINE int set_out(struct bpf_nf_ctx *ctx, const int version)
{
	struct sk_buff *skb = KCAST(struct sk_buff, ctx->skb);
	struct tna_passage *here = passage_of(ctx);
	u64 header = header_of(skb);

	if (!here)
		return NF_ACCEPT;
	here->packet = sets_out_unlike(skb, header, version) ? 0 : (u64)ctx->skb;
	here->generation = rules_generation(own_net, judged_rules(version));
	here->serial = judged_rules(version)->serial;
	here->routes = routes_generation(own_net, version);
	here->mark_known = 0;
	here->service = header_service(header, version);
	here->hops = header_hops(header, version);
	if (version == 6)
		here->ends6 = packet_ends6(header, header_protocol(header, 6));
	else
		here->ends = packet_ends(header, header_protocol(header, 4));
	if (judged_rules(version)->steady & TNA_CONNECTION_MARKS)
		note_connection_mark(here, version);
	return NF_ACCEPT;
}

/* Behind all of pre-routing: where it goes may depend on its mark, which may be another one where it leaves.
 */
INLINE void note_mark(struct bpf_nf_ctx *ctx)
{
	struct tna_passage *here = passage_of(ctx);

	if (!here || here->packet != (u64)ctx->skb)
		return;
	here->routed_mark = KLOAD(u32, KADDR(struct sk_buff, (u64)ctx->skb, mark));
	here->mark_known = 1;
}

/* The packet is not the one that set out last at its place, under the rules and routes that there are, or it
 * is not the same any more but for so many hops, and for its ends. */
INLINE u64 has_changed(const struct tna_passage *here, u64 skb, u64 header, u32 hops, const int version)
{
	volatile struct tna_judged_rules *judged = judged_rules(version);
	u32 generation = rules_generation(own_net, judged);

	if (here->packet != skb || !generation || here->generation != generation ||
	    here->serial != judged->serial || here->routes != routes_generation(own_net, version))
		return 1;
	return (here->service ^ header_service(header, version)) |
	       ((here->hops - hops * HEADER_HOP(version)) ^ header_hops(header, version));
}

#endif
