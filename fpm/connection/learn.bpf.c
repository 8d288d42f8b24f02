// SPDX-License-Identifier: GPL-2.0
/*
 * Sees what netfilter lets pass, as functions of its own: the first one at pre-routing, and the last one at
 * post-routing that may say something. What arrives there has passed all the rules. If connection tracking
 * calls it established, and it is as it was but for one hop, then that is a lesson: for as long as neither
 * the rules nor the connection change, Linux would do the same with the next packet.
 */
#include "connection/follow.bpf.h"
#include "connection/lesson.bpf.h"
#include "connection/rules.bpf.h"
#include "connection/segment.bpf.h"
#include "connection/tracked.bpf.h"

#define NF_ACCEPT 1

/* include/linux/netfilter.h */
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct nf_hook_state {
	struct net_device *in;
	struct net_device *out;
};
#pragma clang attribute pop

/* What the kernel calls these programs with. */
struct bpf_nf_ctx {
	const struct nf_hook_state *state;
	struct sk_buff *skb;
};

/* The pipeline's. */
const volatile __u64 own_net = 0;
const volatile __u64 refresh = 0; /* in jiffies: so old is a connection's entry at most */

/*
 * Under load, packets set out several at a time (net.core.gro_normal_batch, or as many as a driver polls)
 * before the first of them arrives. Each has a place by where its bytes lie in memory; two of the same place
 * are one lesson less.
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
	u64 head = KGET(u64, KCAST(struct sk_buff, ctx->skb), head);
	u32 place = head * 0x9e3779b97f4a7c15ull >> (64 - PASSAGES_LOG);

	return bpf_map_lookup_elem(&passage, &place);
}

INLINE u64 header_of(struct sk_buff *skb)
{
	return KGET(u64, skb, head) + KGET(u16, skb, network_header);
}

/* Version, header length and type of service; time to live and protocol; addresses. */
INLINE u32 header_word(u64 header, u32 index)
{
	const u32 offset = index == 0 ? 0 : index == 1 ? 8 : index == 2 ? 12 : 16;
	const u32 mask = index < 2 ? 0xffff : ~0u;

	return KLOAD(u32, header + offset) & mask;
}

SEC("netfilter")
int set_out(struct bpf_nf_ctx *ctx)
{
	struct sk_buff *skb = KCAST(struct sk_buff, ctx->skb);
	struct tna_passage *here = passage_of(ctx);
	u64 header = header_of(skb);

	if (!here)
		return NF_ACCEPT;
	here->packet = (u64)ctx->skb;
	here->generation = rules_generation(own_net, &home.rules[0]);
	here->serial = home.rules[0].serial;
	here->routes = routes_generation(own_net);
	EACH (index, 4)
		here->words[index] = header_word(header, index);
	return NF_ACCEPT;
}

/* The packet is not the one that set out last at its place, under the rules and routes that there are, or it
 * is not the same any more but for one hop. */
INLINE int has_changed(const struct tna_passage *here, u64 skb, u64 header)
{
	volatile struct tna_judged_rules *judged = &home.rules[0];
	u32 generation = rules_generation(own_net, judged);

	if (here->packet != skb || !generation || here->generation != generation ||
	    here->serial != judged->serial || here->routes != routes_generation(own_net))
		return 1;
	return here->words[0] != header_word(header, 0) || here->words[1] - 1 != header_word(header, 1) ||
	       here->words[2] != header_word(header, 2) || here->words[3] != header_word(header, 3);
}

/* Bridges hand packets to the same functions, which they go on with as they please. */
INLINE int is_bridged(struct net_device *device)
{
	return BPF_CORE_READ_BITFIELD(device, priv_flags) & (IFF_EBRIDGE | IFF_BRIDGE_PORT);
}

INLINE void write_lesson(const struct tna_ends *ends, const struct tna_passage *here, u64 entry,
			 u32 direction, u64 from, u64 to)
{
	/* no CPU writes two at a time */
	u64 stamp = bpf_ktime_get_ns() << 12 | (bpf_get_smp_processor_id() & 0xfff);
	s64 left = tracked_left(entry), most = refresh;
	struct tna_lesson lesson = {
		.stamp = stamp,
		.entry = entry,
		.generation = here->generation,
		.serial = here->serial,
		.mark = tracked_mark(entry),
		.direction = direction,
		.until = bpf_jiffies64() + (left >> 6 < most ? left >> 6 : most),
		.arrival = from,
		.departure = to,
		.routes = here->routes,
		.service = here->words[0] >> 8,
		.least = left - (left >> 3),
		.stamp_again = stamp,
	};

	lesson_device(from, &lesson.from);
	lesson_device(to, &lesson.to);
	bpf_map_update_elem(&lessons, ends, &lesson, BPF_ANY);
}

/* What may be in the middle of a flow. */
INLINE int in_the_middle(u64 header, u32 protocol, u64 entry)
{
	if (protocol == PROTOCOL_TCP)
		return (KLOAD(u8, header + 33) & ~TCP_PSH) == TCP_ACK && !tracked_restless(entry);
	return protocol == PROTOCOL_UDP;
}

/* `known`: of TCP, its windows are. */
INLINE void learn(struct bpf_nf_ctx *ctx, struct tna_passage *here, u64 tracked, int known)
{
	struct sk_buff *skb = KCAST(struct sk_buff, ctx->skb);
	struct nf_hook_state *state = KCAST(struct nf_hook_state, ctx->state);
	u64 from = KGET(u64, state, in), to = KGET(u64, state, out), header = header_of(skb);
	u64 entry = tracked & ~CONNECTION_INFO;
	u32 info = tracked & CONNECTION_INFO, direction = info == CONNECTION_ESTABLISHED_REPLY;
	u32 protocol = header_word(header, 1) >> 8;
	volatile struct tna_judged_rules *judged = &home.rules[0];

	if (has_changed(here, (u64)ctx->skb, header) || !rules_steady(own_net, judged, protocol))
		return;
	if ((info != CONNECTION_ESTABLISHED && info != CONNECTION_ESTABLISHED_REPLY) || !from || !to)
		return;
	if (KGET(u32, skb, mark)) /* a device that leads to this namespace keeps it there */
		return;
	if (is_bridged(KOBJ(struct net_device, from)) || is_bridged(KOBJ(struct net_device, to)))
		return;
	if (header_word(header, 0) % 256 != 0x45 || !in_the_middle(header, protocol, entry))
		return;
	struct tna_ends ends = {.source = header_word(header, 2),
				.destination = header_word(header, 3),
				.source_port = KLOAD(u16, header + 20),
				.destination_port = KLOAD(u16, header + 22),
				.protocol = protocol};

	if (tracked_unfit(entry, direction, &ends, own_net))
		return;
	if (rules_differ(own_net, judged, 4))
		judged->missed = 1;
	else if (known || !stream_begin(entry))
		write_lesson(&ends, here, entry, direction, from, to);
}

SEC("netfilter")
int arrived(struct bpf_nf_ctx *ctx)
{
	struct sk_buff *skb = KCAST(struct sk_buff, ctx->skb);
	struct tna_passage *here = passage_of(ctx);
	u64 tracked = KGET(u64, skb, _nfct), header = header_of(skb);
	int known = 1;

	/* Each segment is noted, whether or not anything can be learnt of it. */
	if (tracked & ~CONNECTION_INFO && header_word(header, 1) >> 8 == PROTOCOL_TCP)
		known = stream_follow(skb, header, tracked & ~CONNECTION_INFO, tracked & CONNECTION_INFO);
	if (here && here->packet == (u64)ctx->skb) {
		if (tracked & ~CONNECTION_INFO)
			learn(ctx, here, tracked, known);
		here->packet = 0;
	}
	return NF_ACCEPT;
}

char _license[] SEC("license") = "GPL";
