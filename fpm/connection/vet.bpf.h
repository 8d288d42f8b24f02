/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_VET_H
#define TNA_CONNECTION_VET_H

/*
 * What must not come as far as connection tracking. Of a fast connection it has been told to mind no windows,
 * so a FIN or a RST with any numbers would end it, which whoever knows its ends can send. By itself it would
 * have called that invalid, and kept the connection; so where the rules drop what is invalid, it is dropped
 * before. And a connection that has been reset is yet to be closed for a moment: a SYN must not be translated
 * as that one was.
 */

#include "connection/follow.bpf.h"
#include "connection/lesson.bpf.h"
#include "connection/passage.bpf.h"
#include "connection/rules.bpf.h"

#define VETTED (TCP_SYN | TCP_FIN | TCP_RST)
#define CLOSED_SOON 1000000000ull /* ns */

/* TCP's flags where they are in front of the buffer, or 0xff: they have to be looked for. */
INLINE u32 flags_at_hand(struct sk_buff *skb, u64 header, u32 before)
{
	return KGET(u32, skb, len) - KGET(u32, skb, data_len) >= before + 14 ? KLOAD(u8, header + before + 13)
									     : 0xff;
}

/* Both ports, wherever they lie. */
INLINE int ports_read(struct bpf_nf_ctx *ctx, u32 before, u16 *ports)
{
	struct bpf_dynptr packet;

	return !bpf_dynptr_from_skb((struct __sk_buff *)ctx->skb, 0, &packet) &&
	       !bpf_dynptr_read(ports, 4, &packet, before, 0);
}

/* Whether rules drop what is invalid of a connection, wherever that would be. */
INLINE int drops_invalid(u32 steps, const int version)
{
	volatile struct tna_judged_rules *judged = judged_rules(version);

	return steps || (judged->steady & (TNA_INVALID_DROPPED_EARLY | TNA_INVALID_DROPPED) &&
			 rules_are_known(own_net, judged, version));
}

/* It leaves as those do of which this is the lesson. Of IPv6 nobody knows, nor where a bridge has called the
 * rules, which may yet keep it. */
INLINE int goes_as_they_did(struct sk_buff *skb, const volatile struct tna_lesson *lesson, const int version)
{
	u32 service = header_service(header_of(skb), version);

	return version == 4 && !bridge_noted(skb) && lesson->serial == judged_rules(version)->serial &&
	       lesson->routes == routes_generation(own_net, version) && lesson->service == service &&
	       (!routes_ask_for_marks(own_net, version) || lesson->routed_mark == KGET(u32, skb, mark)) &&
	       !lesson_device_differs(lesson->departure, &lesson->to);
}

/*
 * The same where that depends on more, such as the devices, of which only the one is known by which it comes.
 * In doubt it is dropped: it must not end what it does not belong to, and connection tracking minds no
 * windows of that any more.
 */
INLINE int drops_invalid_in_doubt(struct bpf_nf_ctx *ctx, const volatile struct tna_lesson *lesson, u64 stamp,
				  const int version)
{
	struct sk_buff *skb = KCAST(struct sk_buff, ctx->skb);
	u64 arrival = KGET(u64, KCAST(struct nf_hook_state, ctx->state), in);
	volatile struct tna_judged_rules *judged = judged_rules(version);

	if (tracking_liberal(own_net))
		return 0;
	if (!rules_are_known(own_net, judged, version))
		return 1;
	if (judged->steady & INVALID_KNOWN)
		return 0;
	if (lesson_device_differs(arrival, &lesson->from))
		return 1;
	int passes = invalid_on_the_way(arrival, 0, version) & TNA_INVALID_PASSED ||
		     (lesson->invalid & TNA_INVALID_PASSED && goes_as_they_did(skb, lesson, version));

	return !passes || lesson->stamp != stamp || lesson->stamp_again != stamp;
}

/* Also one that Linux would have let pass without taking it: that it cannot, where it minds no windows. */
INLINE u32 vet_outside(struct tna_stream *stream, u64 entry, u32 direction, struct tcp_part *part)
{
	struct tna_stream_side sender, receiver;

	if (stream_takes_all(stream, direction, own_net))
		return WINDOWS_IN;
	tracked_side_read(entry, direction, &sender);
	tracked_side_read(entry, !(direction & 1), &receiver);
	/* where it has forgotten a side (nf_ct_tcp_fixup()), it takes what comes */
	return sender.maxwin && receiver.maxwin ? stream_judge(stream, direction, part) : WINDOWS_IN;
}

/* A server's answer to a SYN of which connection tracking has taken no notice: it knows the connection no
 * more. Linux closes it then, whatever the windows are (nf_conntrack_tcp_packet()). */
INLINE int vet_refuses_syn(u64 entry, u32 direction, const struct tcp_part *part)
{
	u64 tcp = KADDR(struct nf_conn, entry, proto.tcp);

	return part->flags & TCP_RST &&
	       KLOAD(u8, KADDR(struct ip_ct_tcp, tcp, last_index)) == TRACKED_LAST_SYN &&
	       KLOAD(u8, KADDR(struct ip_ct_tcp, tcp, last_dir)) != (direction & 1) &&
	       KLOAD(u32, KADDR(struct ip_ct_tcp, tcp, last_end)) == part->ack;
}

/* Whether a segment that says more than that it is there is to end here. */
NOINLINE int stream_vet(struct bpf_nf_ctx *ctx, u32 before, u64 entry, u32 direction, u32 drops)
{
	struct tna_stream *stream = bpf_map_lookup_elem(&streams, &entry);
	struct tcp_part part;

	if (!stream || stream->anew == TNA_ANEW_LEFT || stream_differs(stream, entry) ||
	    !tracked_side_liberal(entry, direction) || !passed_parse(ctx, before, &part))
		return 0;
	/* where one side has ended, Linux looks at the numbers of the other one's end, but at no reset's */
	if (part.flags & (TCP_SYN | TCP_RST) && !stream->anew && !tracked_established(entry))
		return 0;
	if (part.flags & TCP_SYN)
		return stream->reset && tracked_steps(entry, direction) &&
		       bpf_ktime_get_ns() - stream->reset_at < CLOSED_SOON;
	if (vet_refuses_syn(entry, direction, &part))
		return 0;
	stream_pieces(entry, direction, &part);
	if (stream->anew)
		return drops && stream_outside_anew(stream, entry, direction, &part, own_net) != WINDOWS_IN;
	if (stream_catch_up(stream, entry, direction, &part, 0)) /* it has not seen this one */
		stream_lose(stream);
	/* behind a SYN, Linux looks at windows only */
	u32 late = KLOAD(u8, KADDR(struct nf_conn, entry, proto.tcp.last_index)) != TRACKED_LAST_SYN &&
		   stream_reset_late(stream, direction, &part, own_net);
	u32 outside = vet_outside(stream, entry, direction, &part);

	if (!drops || (!late && outside == WINDOWS_IN))
		return 0;
	if (!late && outside == WINDOWS_OUT)
		stream_note_invalid(stream, direction, &part);
	if (!late && outside == WINDOWS_OVER)
		stream_note(stream, entry, direction, &part, outside);
	return 1;
}

INLINE int vet(struct bpf_nf_ctx *ctx, const int version)
{
	struct sk_buff *skb = KCAST(struct sk_buff, ctx->skb);
	u64 header = header_of(skb);
	union {
		struct tna_ends ipv4;
		struct tna_ends6 ipv6;
	} ends;

	if (version == 4 && header_protocol(header, 4) != PROTOCOL_TCP)
		return NF_ACCEPT;
	u32 before = length_before_tcp(ctx, version);

	if (!before || !(flags_at_hand(skb, header, before) & VETTED))
		return NF_ACCEPT;
	if (KGET(u64, skb, _nfct) == CONNECTION_EXEMPT) /* it does not come as far as that */
		return NF_ACCEPT;
	const volatile struct tna_lesson *lesson = NULL;

	if (version == 6) {
		ends.ipv6 = packet_ends6(header, PROTOCOL_TCP);
		if (ports_read(ctx, before, &ends.ipv6.source_port))
			lesson = bpf_map_lookup_elem(&lessons6, &ends.ipv6);
	} else {
		ends.ipv4 = packet_ends(header, PROTOCOL_TCP);
		if (ports_read(ctx, before, &ends.ipv4.source_port))
			lesson = bpf_map_lookup_elem(&lessons, &ends.ipv4);
	}
	if (!lesson)
		return NF_ACCEPT;
	u64 stamp = lesson->stamp, entry = lesson->entry;
	u32 direction = lesson->direction;

	if (!entry || tracked_differs(entry, direction, &ends, version))
		return NF_ACCEPT;
	return stream_vet(ctx, before, entry, direction,
			  drops_invalid(tracked_steps(entry, direction), version) ||
				  drops_invalid_in_doubt(ctx, lesson, stamp, version))
		       ? NF_DROP
		       : NF_ACCEPT;
}

#endif
