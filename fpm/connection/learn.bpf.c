// SPDX-License-Identifier: GPL-2.0
/*
 * Sees what netfilter lets pass, as functions of its own: the first one and the last one at pre-routing, one
 * in front of connection tracking, and the last one at post-routing that may say something. What arrives
 * there has passed all the rules. If connection tracking calls it established, or does not see it, because
 * nobody tracks connections or rules have exempted it, and it is as it was but for one hop (none, where a
 * bridge has called the rules), then that is a lesson: for as long as neither the rules nor the connection
 * change, Linux would do the same with the next packet.
 */
#define RAISE APART /* the verifier takes half as long */

#include "base/altered.bpf.h"
#include "connection/both_ways.bpf.h"
#include "connection/invalid.bpf.h"
#include "connection/lesson.bpf.h"
#include "connection/passage.bpf.h"
#include "connection/rules.bpf.h"
#include "connection/segment.bpf.h"
#include "connection/sweep.bpf.h"
#include "connection/through_bridge.bpf.h"
#include "connection/tracked.bpf.h"
#include "connection/untracked.bpf.h"
#include "connection/vet.bpf.h"
#include "packet/dhcp.bpf.h"

/* Rules have looked at the connection's mark, and nobody has changed it since. Of the first packet that is
 * learnt that is not known. */
INLINE int connection_mark_known(const struct tna_passage *here, u64 entry, u32 mark,
				 const volatile struct tna_judged_rules *judged)
{
	if (!entry || !(judged->steady & TNA_CONNECTION_MARKS))
		return 1;
	return here->entry == entry && here->connection_mark == mark;
}

INLINE void make_lesson(struct tna_lesson *lesson, const struct tna_passage *here, u64 entry, u32 direction,
			const struct passed *passed, const int version)
{
	/* no CPU writes two at a time */
	u64 stamp = bpf_ktime_get_ns() << 12 | (bpf_get_smp_processor_id() & 0xfff);
	s64 most = refresh, left = entry ? tracked_left(entry) : most << 6;
	s64 lasts = left >> 6 < most ? left >> 6 : most;
	u32 mark = entry ? tracked_mark(entry) : 0; /* once: somebody may change it */

	if (!connection_mark_known(here, entry, mark, judged_rules(version)))
		lasts = -1; /* the next one is Linux's, too */

	*lesson = (struct tna_lesson){
		.stamp = stamp,
		.entry = entry,
		.generation = here->generation,
		.serial = here->serial,
		.mark = mark,
		.direction = direction,
		.until = bpf_jiffies64() + lasts,
		.arrival = passed->from,
		.departure = passed->to,
		.routes = here->routes,
		.service = here->service,
		.least = left - (left >> 3),
		.invalid = passed->invalid,
		.routed_mark = here->routed_mark,
		.left_mark = passed->mark,
		.stamp_again = stamp,
	};
	lesson_device(passed->from, &lesson->from);
	lesson_device(passed->to, &lesson->to);
	lesson_port(passed->in_port, lesson->ports[0]);
	lesson_port(passed->out_port, lesson->ports[1]);
}

/* What the fast path may do with packets at a device, by its index (TNA_FLOW_*). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TNA_FLOW_PLACES_MAX);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u32);
	__type(value, u8);
} flow_places SEC(".maps");

INLINE int may_at(u64 device, u8 what)
{
	u32 ifindex = KLOAD(u32, KADDR(struct net_device, device, ifindex));
	const u8 *place = bpf_map_lookup_elem(&flow_places, &ifindex);

	return place && *place & what;
}

/* Linux is told of connections that may become fast, and of no others. */
NOINLINE int may_be_fast(const struct passed *passed)
{
	return may_at(passed->in_port ? passed->in_port : passed->from, TNA_FLOW_COMES) &&
	       may_at(passed->out_port ? passed->out_port : passed->to, TNA_FLOW_LEAVES);
}

/* What is looked at below is in front of the buffer. */
INLINE int ports_are_seen(struct sk_buff *skb, u32 protocol, const int version)
{
	u32 headers = (version == 6 ? IPV6_HEADER_LEN : IPV4_HEADER_LEN) +
		      (protocol == PROTOCOL_TCP ? TCP_HEADER_LEN : UDP_HEADER_LEN);

	return KGET(u32, skb, len) - KGET(u32, skb, data_len) >= headers;
}

/* What may be in the middle of a flow, with a plain header. */
INLINE int in_the_middle(u64 header, u32 protocol, const int version)
{
	if (version == 4 && KLOAD(u8, header) != 0x45)
		return 0;
	if (protocol == PROTOCOL_TCP)
		return (KLOAD(u8, header + (version == 6 ? 53 : 33)) & ~TCP_PSH) == TCP_ACK;
	return protocol == PROTOCOL_UDP;
}

/* It came as one of a connection, and leaves as packets of that do. */
INLINE u64 ends_are_others(struct tna_passage *here, u64 header, u64 entry, u32 direction, const int version)
{
	const void *came = version == 6 ? (const void *)&here->ends6 : (const void *)&here->ends;
	struct tna_translation *leaves = &here->leaves;
	u64 at = header + (version == 6 ? 8 : 12), word = tracked_differs(entry, direction, came, version);
	const u32 size = version == 6 ? 16 : 4;

	leaves->steps = tracked_steps(entry, direction);
	leaves->routed[0] = version == 6 ? KLOAD(u64, at + size) : KLOAD(u32, at + size);
	if (version == 6)
		leaves->routed[1] = KLOAD(u64, at + size + 8);
	tracked_translation(entry, direction, leaves, version);
	word |= translation_differs(leaves, leaves->steps, came, version);
	word |= leaves->source[0] ^ (version == 6 ? KLOAD(u64, at) : KLOAD(u32, at));
	if (version == 6)
		word |= leaves->source[1] ^ KLOAD(u64, at + 8);
	word |= leaves->source_port ^ KLOAD(u16, at + 2 * size);
	word |= leaves->destination_port ^ KLOAD(u16, at + 2 * size + 2);
	return word;
}

INLINE void lesson_translation(struct tna_lesson *lesson, const struct tna_translation *leaves, u32 protocol,
			       const int version)
{
	lesson->source_port = leaves->source_port;
	lesson->destination_port = leaves->destination_port;
	lesson->source[0] = leaves->source[0];
	lesson->destination[0] = leaves->destination[0];
	if (version == 6) {
		lesson->source[1] = leaves->source[1];
		lesson->destination[1] = leaves->destination[1];
	}
	lesson->protocol = protocol;
	if (leaves->steps | lesson->routed_mark | lesson->left_mark)
		altered = 1; /* before the first one is found */
}

/* Apart from what comes before: a lesson takes much of the stack. */
NOINLINE void write_lesson4(const struct tna_passage *here, u64 tracked, const struct passed *passed)
{
	struct tna_lesson lesson;

	make_lesson(&lesson, here, tracked & ~CONNECTION_INFO, tracked_direction(tracked), passed, 4);
	lesson_translation(&lesson, &here->leaves, here->ends.protocol, 4);
	bpf_map_update_elem(&lessons, &here->ends, &lesson, BPF_ANY);
}

NOINLINE void write_lesson6(const struct tna_passage *here, u64 tracked, const struct passed *passed)
{
	struct tna_lesson lesson;

	make_lesson(&lesson, here, tracked & ~CONNECTION_INFO, tracked_direction(tracked), passed, 6);
	lesson_translation(&lesson, &here->leaves, here->ends6.protocol, 6);
	bpf_map_update_elem(&lessons6, &here->ends6, &lesson, BPF_ANY);
}

/* Where what is invalid is dropped depends on where it goes: out as it would without translation, or to this
 * host, which is known of its addresses only. If one goes, connections that are translated do, or routes are
 * others. */
INLINE u64 lets_translated(const struct tna_passage *here, const volatile struct tna_judged_rules *judged,
			   const struct passed *passed, const int version)
{
	if (invalid_ends_early(own_net, judged))
		return 1;
	return version == 4 && translated_in_order(own_net, judged) &&
	       (!(here->leaves.steps & TNA_ANOTHER_DESTINATION) ||
		for_arrival(passed->from, here->ends.destination));
}

/* It has passed rules that treat its like as they have treated it, and is as it was when it set out, but for
 * its ends. */
INLINE int has_passed_alike(struct bpf_nf_ctx *ctx, const struct tna_passage *here, struct passed *passed,
			    const int version)
{
	struct sk_buff *skb = KCAST(struct sk_buff, ctx->skb);
	u64 header = header_of(skb);
	u32 protocol = header_protocol(header, version);

	if (!passed->to || !passed_devices(skb, bridge_noted(skb), own_net, passed))
		return 0;
	if (has_changed(here, (u64)ctx->skb, header, !passed->out_port, version))
		return 0;
	passed->mark = KGET(u32, skb, mark);
	if (!here->mark_known || (passed->out_port && passed->mark))
		return 0;
	return ports_are_seen(skb, protocol, version) && in_the_middle(header, protocol, version);
}

/* Others like it may become fast, by functions that are still those that were judged. */
INLINE int is_of_use(const struct passed *passed, const int version)
{
	volatile struct tna_judged_rules *judged = judged_rules(version);

	if (!may_be_fast(passed))
		return 0;
	if (!rules_differ(own_net, judged, version))
		return 1;
	judged->missed = 1;
	return 0;
}

INLINE struct passed passed_from_to(struct bpf_nf_ctx *ctx)
{
	struct nf_hook_state *state = KCAST(struct nf_hook_state, ctx->state);

	return (struct passed){.from = KGET(u64, state, in), .to = KGET(u64, state, out)};
}

/* `known`: of TCP, its windows are. */
INLINE void learn(struct bpf_nf_ctx *ctx, struct tna_passage *here, u64 tracked, int known, const int version)
{
	u64 entry = tracked & ~CONNECTION_INFO, header = header_of(KCAST(struct sk_buff, ctx->skb));
	u32 direction = tracked_direction(tracked), protocol = header_protocol(header, version);
	volatile struct tna_judged_rules *judged = judged_rules(version);
	struct passed passed = passed_from_to(ctx);

	if (!is_established(tracked) || !rules_steady(judged, protocol) ||
	    !has_passed_alike(ctx, here, &passed, version))
		return;
	passed.invalid = invalid_becomes(&passed, version);
	if (judged->steady & TNA_UNTRACKED || !rules_certain(own_net, passed.invalid, protocol))
		return;
	if ((protocol == PROTOCOL_TCP && tracked_restless(entry)) ||
	    ends_are_others(here, header, entry, direction, version) ||
	    tracked_unfit(entry, direction, protocol, own_net))
		return;
	if (passed.out_port && here->leaves.steps) /* what bridges send elsewhere by their own rules */
		return;
	if (here->leaves.steps && protocol == PROTOCOL_UDP && is_dhcp(here->leaves.destination_port))
		return;
	if (!is_of_use(&passed, version))
		return;
	if (protocol == PROTOCOL_TCP && here->leaves.steps &&
	    !lets_translated(here, judged, &passed, version))
		return;
	if (protocol == PROTOCOL_TCP && !passed.out_port && may_be_routed_by_mark(own_net, judged, version) &&
	    !invalid_ends_early(own_net, judged))
		return;
	if (known == FOLLOWED_NOT && both_ways_certain(here, entry, &passed, judged, version) &&
	    stream_begin(entry))
		return;
	if (version == 6)
		write_lesson6(here, tracked, &passed);
	else
		write_lesson4(here, tracked, &passed);
}

/* Where connection tracking does not see packets, or rules have exempted this one from it, and they ask for
 * what is the same in all of a flow. */
INLINE void learn_untracked(struct bpf_nf_ctx *ctx, struct tna_passage *here, u64 tracked, const int version)
{
	u64 header = header_of(KCAST(struct sk_buff, ctx->skb));
	struct passed passed = passed_from_to(ctx);

	if (!rules_steady_untracked(judged_rules(version), tracked, header_protocol(header, version)) ||
	    !has_passed_alike(ctx, here, &passed, version))
		return;
	leaves_as_it_came(here, version);
	if (header_differs(header, &here->leaves, version) || !is_of_use(&passed, version) ||
	    !has_passed_before(&here->leaves, header_protocol(header, version)))
		return;
	if (version == 6)
		write_lesson6(here, 0, &passed);
	else
		write_lesson4(here, 0, &passed);
}

/* What rules answer with (resets) belongs to the connection, too, but connection tracking does not look at it
 * (nf_ct_attach()). Where a bridge has called the rules, there is a note of that. */
INLINE int has_come_in(struct bpf_nf_ctx *ctx)
{
	return KGET(u64, KCAST(struct nf_hook_state, ctx->state), in) ||
	       bridge_noted(KCAST(struct sk_buff, ctx->skb));
}

INLINE int arrived(struct bpf_nf_ctx *ctx, const int version)
{
	struct sk_buff *skb = KCAST(struct sk_buff, ctx->skb);
	struct tna_passage *here = passage_of(ctx);
	u64 tracked = KGET(u64, skb, _nfct), entry = tracked & ~CONNECTION_INFO, header = header_of(skb);
	int known = FOLLOWED;

	if (!has_come_in(ctx))
		return NF_ACCEPT;
	/* It has been noted behind pre-routing. */
	if (entry && concerns_stream(header, tracked, version))
		known = stream_follow(ctx, length_before_tcp(ctx, version) | FOLLOW_LOOKS, tracked, own_net);
	if (known == FOLLOWED_INVALID) {
		if (here)
			here->packet = 0;
		return lets_invalid_pass(ctx, version) ? NF_ACCEPT : NF_DROP;
	}
	if (here && here->packet == (u64)ctx->skb) {
		if (entry)
			learn(ctx, here, tracked, known, version);
		else
			learn_untracked(ctx, here, tracked, version);
		here->packet = 0;
	}
	return NF_ACCEPT;
}

SEC("netfilter")
int set_out4(struct bpf_nf_ctx *ctx)
{
	return set_out(ctx, 4);
}

SEC("netfilter")
int vet4(struct bpf_nf_ctx *ctx)
{
	return vet(ctx, 4);
}

SEC("netfilter")
int came4(struct bpf_nf_ctx *ctx)
{
	note_mark(ctx);
	return came(ctx, 4);
}

SEC("netfilter")
int arrived4(struct bpf_nf_ctx *ctx)
{
	return arrived(ctx, 4);
}

SEC("netfilter")
int set_out6(struct bpf_nf_ctx *ctx)
{
	return set_out(ctx, 6);
}

SEC("netfilter")
int vet6(struct bpf_nf_ctx *ctx)
{
	return vet(ctx, 6);
}

SEC("netfilter")
int came6(struct bpf_nf_ctx *ctx)
{
	note_mark(ctx);
	return came(ctx, 6);
}

SEC("netfilter")
int arrived6(struct bpf_nf_ctx *ctx)
{
	return arrived(ctx, 6);
}

/* For the controller, by BPF_PROG_TEST_RUN: of the kind that the processor may be taken from, for there may
 * be many. */
SEC("syscall")
int sweep(void *ctx)
{
	bpf_for_each_map_elem(&streams, sweep_one, NULL, 0);
	return 0;
}

char _license[] SEC("license") = "GPL";
