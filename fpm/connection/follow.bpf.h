/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_FOLLOW_H
#define TNA_CONNECTION_FOLLOW_H

/* Segments of TCP that Linux has let pass: their connection's windows move by them as by those that were
 * fast. */

#include "connection/netfilter.bpf.h"
#include "connection/segment.bpf.h"
#include "connection/stream.bpf.h"

/* The headers of a segment, wherever they lie: in a buffer of fragments, or behind what is in front of it. */
struct segment_headers {
	u8 tcp[96]; /* 60 at most; the rest is for the verifier */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct segment_headers);
} segment_headers SEC(".maps");

#define TCP_OPTIONS_MAX 40 /* bytes: no header has more, and each turn passes over one at least */

/* tcp_sack(): the highest that is acknowledged, wherever that lies. */
APART u32 passed_pieces(const struct segment_headers *headers, u32 length, u32 ack)
{
	u32 sack = ack, at = 0, size = 0, piece = 0;
	struct search pieces;

	if (!headers) /* for the verifier, which looks at this alone */
		return ack;
	SEARCH (pieces, TCP_OPTIONS_MAX) {
		u32 kind = headers->tcp[(20 + at) & 63];

		if (at >= length || kind == TCP_END)
			CONCLUDE(pieces, search_none());
		size = kind == TCP_NOTHING ? 1 : headers->tcp[(21 + at) & 63];
		if (!size || (kind != TCP_NOTHING && size < 2) || size > length - at)
			CONCLUDE(pieces, search_none());
		if (kind == TCP_PIECES && size >= 10 && (size - 2) % 8 == 0)
			CONCLUDE(pieces, search_found(20 + at + 2));
		at = (at + size) & 63; /* below the length, which is 40 at most: for the verifier */
	}
	piece = found_or_linux(pieces);

	EACH (index, 4) {
		if (!piece || 2 + 8 * (index + 1) > size)
			break;
		u32 edge = 0;

		EACH (byte, 4)
			edge = edge << 8 | headers->tcp[(piece + 8 * index + 4 + byte) & 63];
		if (tcp_before(sack, edge))
			sack = edge;
	}
	return sack;
}

/* Takes them out of a packet that has so many bytes before; how long they are, or 0: they are not all there.
 */
NOINLINE u32 headers_take(struct bpf_nf_ctx *ctx, struct segment_headers *headers, u32 before)
{
	struct bpf_dynptr packet;
	u32 length;

	if (bpf_dynptr_from_skb((struct __sk_buff *)ctx->skb, 0, &packet) ||
	    bpf_dynptr_read(headers->tcp, 20, &packet, before, 0))
		return 0;
	length = (headers->tcp[12] >> 4) * 4;
	if (length < 20)
		return 0;
	if (length > 20 && bpf_dynptr_read(headers->tcp + 20, (length - 20) & 63, &packet, before + 20, 0))
		return 0;
	return length;
}

/* False: it is none that connection tracking would take. */
INLINE int passed_parse(struct bpf_nf_ctx *ctx, u32 before, struct tcp_part *part)
{
	u32 zero = 0, size = KGET(u32, KCAST(struct sk_buff, ctx->skb), len);
	struct segment_headers *headers = bpf_map_lookup_elem(&segment_headers, &zero);
	u32 length = headers ? headers_take(ctx, headers, before) : 0;

	if (!length)
		return 0;
	part->flags = headers->tcp[13];
	part->sequence = bpf_ntohl(*(u32 *)(headers->tcp + 4));
	part->ack = bpf_ntohl(*(u32 *)(headers->tcp + 8));
	part->sack = passed_pieces(headers, length - 20, part->ack);
	part->window = bpf_ntohs(*(u16 *)(headers->tcp + 14));
	part->end = part->sequence + size - before - length + (part->flags & TCP_FIN);
	return 1;
}

/* The ends of the connection's first packet. */
INLINE void stream_ends(u64 entry, struct tna_stream *stream)
{
	u64 tuple = tracked_tuple(entry, 0);
	u64 source = KADDR(struct nf_conntrack_tuple, tuple, src.u3.all);
	u64 destination = KADDR(struct nf_conntrack_tuple, tuple, dst.u3.all);

	/* of IPv4, the rest is 0 */
	EACH (index, 4) {
		stream->source[index] = KLOAD(u32, source + 4 * index);
		stream->destination[index] = KLOAD(u32, destination + 4 * index);
	}
	stream->source_port = KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, src.u.all));
	stream->destination_port = KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, dst.u.all));
	stream->ipv6 = KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, src.l3num)) == TRACKED_INET6;
}

INLINE u64 stream_differs(const struct tna_stream *stream, u64 entry)
{
	struct tna_stream now = {};
	u64 word = stream->ipv6;

	stream_ends(entry, &now);
	word ^= now.ipv6;
	EACH (index, 4) {
		word |= stream->source[index] ^ now.source[index];
		word |= stream->destination[index] ^ now.destination[index];
	}
	return word | (stream->source_port ^ now.source_port) |
	       (stream->destination_port ^ now.destination_port);
}

/* Where Linux has gone on from what was known, it does not lag behind what was fast. Where it still has the
 * number that it had then, it does, however far ahead that seems. */
INLINE int number_went_on(u32 now, u32 known, u32 noted)
{
	return now == known || (now != noted && !tcp_before(now, known));
}

/* Of one that nobody has followed since. */
INLINE int stream_went_on(const struct tna_stream *before, const struct tna_stream *now)
{
	int on = 1;

	EACH (direction, 2) {
		const struct tna_stream_side *side = &now->sides[direction],
					     *known = &before->sides[direction],
					     *noted = &before->noted[direction];

		on &= number_went_on(side->end, known->end, noted->end) &
		      number_went_on(side->maxend, known->maxend, noted->maxend);
	}
	return on;
}

/* Of a connection of which both sides have been seen, and from when connection tracking knows its windows:
 * nothing has passed it by. */
APART int stream_begin(u64 entry)
{
	struct tna_stream stream = {.born = bpf_ktime_get_ns(), .used = bpf_jiffies64()};
	const struct tna_stream *before = bpf_map_lookup_elem(&streams, &entry);

	if (before && !before->anew)
		return 1; /* somebody else has begun */
	stream_ends(entry, &stream);
	EACH (direction, 2) {
		u32 flags = tracked_side_flags(entry, direction);

		tracked_side_read(entry, direction, &stream.sides[direction]);
		stream.noted[direction] = stream.sides[direction];
		if (!(flags & TRACKED_LIBERAL))
			stream.judged |= 1u << direction;
		if (!(flags & TRACKED_HAS_ACKED) || !stream.sides[direction].maxwin)
			return 1;
	}
	/* Linux has been told not to mind windows, and keeps that for one side, or for both */
	if (before && (before->anew == TNA_ANEW_BEGUN || stream_went_on(before, &stream)))
		stream.judged = before->judged;
	return bpf_map_update_elem(&streams, &entry, &stream, before ? BPF_ANY : BPF_NOEXIST) != 0;
}

/* Of a packet's mark by connection tracking. */
INLINE int is_established(u64 tracked)
{
	u32 info = tracked & CONNECTION_INFO;

	return info == CONNECTION_ESTABLISHED || info == CONNECTION_ESTABLISHED_REPLY;
}

/* One of its numbers, if there is anything new, and not by `own`. */
INLINE u64 stream_catch_up_number(u32 *number, u32 *before, u32 now, int own)
{
	u32 was = *before;

	*before = now;
	return now == was || own ? 0 : windows_raise(number, now);
}

/*
 * What connection tracking has noted besides: of segments that rules have dropped, or that came out
 * elsewhere. Not so the largest windows: it has added this segment to them already, and it adds too much to
 * them where it has missed acknowledgements. So it takes segments that are too old, too (`aside`): what it
 * has of this one does not count. Not 0: that could not be noted.
 */
INLINE u64 stream_catch_up(struct tna_stream *stream, u64 entry, u32 direction, const struct tcp_part *part,
			   int aside)
{
	u32 window = part->window << (tracked_side_scale(entry, direction) & 15);
	u32 maxend = part->sack + window + !window;
	struct tna_stream_side seen;
	u64 word = 0;

	EACH (way, 2) {
		struct tna_stream_side *side = stream_side(stream, way);
		struct tna_stream_side *before = way ? &stream->noted[1] : &stream->noted[0];
		int own = aside && way == (direction & 1), others = aside && !own;

		tracked_side_read(entry, way, &seen);
		if (!seen.maxwin) /* forgotten */
			continue;
		word |= stream_catch_up_number(&side->end, &before->end, seen.end,
					       own && seen.end == part->end);
		word |= stream_catch_up_number(&side->maxend, &before->maxend, seen.maxend,
					       others && seen.maxend == maxend);
		word |= stream_catch_up_number(&side->acked, &before->acked, seen.acked,
					       others && seen.acked == part->ack);
	}
	return word;
}

/* Nothing that is not certain is invalid. */
INLINE void stream_lose(struct tna_stream *stream)
{
	stream->judged = 0;
	stream->lost = 1;
}

/* What is known of the connection of a segment: nothing; something, which includes the segment then; or that
 * it is invalid, which connection tracking has been told not to mind. */
enum followed { FOLLOWED_NOT, FOLLOWED, FOLLOWED_INVALID };

/* What connection tracking has noted of the last segment that it took: see nf_conntrack_tcp_packet(). */
INLINE void stream_last(struct tna_stream *stream, u32 direction, const struct tcp_part *part)
{
	if (part->flags & TCP_SYN)
		stream->last_end = part->end + 1;
	stream->last_direction = direction;
	stream->last_other = is_mere_ack(part) ? 0 : part->flags & TCP_RST ? TNA_LAST_RESET : TNA_LAST_OTHER;
}

/* A reset that ends the connection. */
INLINE int stream_is_reset(struct tna_stream *stream, u32 direction, const struct tcp_part *part)
{
	return part->flags & TCP_RST && (part->sequence == stream_side(stream, direction)->acked ||
					 (part->sequence == stream->last_end &&
					  stream->last_direction == direction && !stream->last_other));
}

/* From another handshake on, until its windows are taken from Linux, Linux sees all of a connection, and
 * knows them itself. But it takes what one side sends, whatever they are, and notes nothing of what is
 * outside. */
INLINE u32 stream_outside_anew(const struct tna_stream *stream, u64 entry, u32 direction,
			       struct tcp_part *part, u64 net)
{
	struct tna_stream_side sender, receiver;

	if (stream_takes_all(stream, direction, net) || !tracked_side_liberal(entry, direction))
		return WINDOWS_IN;
	tracked_side_read(entry, direction, &sender);
	tracked_side_read(entry, !(direction & 1), &receiver);
	/* of a side that it does not know yet, it takes what comes */
	return sender.maxwin && receiver.maxwin ? windows_judge(&sender, &receiver, part) : WINDOWS_IN;
}

/* Instead of noting a segment, only say whether it is invalid. */
#define FOLLOW_LOOKS 0x10000u

/* A segment of TCP that has come by, behind so many bytes of headers (0: of which nobody can say how many).
 */
APART int stream_follow(struct bpf_nf_ctx *ctx, u32 before, u64 tracked, u64 net)
{
	u64 entry = tracked & ~CONNECTION_INFO;
	u32 direction = (tracked & CONNECTION_INFO) == CONNECTION_ESTABLISHED_REPLY;
	struct tna_stream *stream = bpf_map_lookup_elem(&streams, &entry);
	struct tcp_part part;
	u32 looks = before & FOLLOW_LOOKS;

	before &= ~FOLLOW_LOOKS;
	if (!stream)
		return FOLLOWED_NOT;
	if (!is_established(tracked) || stream_differs(stream, entry)) {
		bpf_map_delete_elem(&streams, &entry); /* it was another one's */
		return FOLLOWED_NOT;
	}
	/* What cannot be judged must not be the way around the judgement. */
	if (!before || !passed_parse(ctx, before, &part)) {
		stream->disturbed += !looks;
		return stream->anew ? FOLLOWED_NOT : FOLLOWED_INVALID;
	}
	if (part.flags & TCP_SYN && looks)
		return FOLLOWED_NOT;
	if (part.flags & TCP_SYN) {
		stream->reset = 0;
		stream_last(stream, direction, &part);
		if (tracked_begins(entry)) /* anew; at another time, it ignores this */
			stream->anew = TNA_ANEW_BEGUN;
		return FOLLOWED_NOT;
	}
	if (tracked_forgotten(entry)) /* it is taken from Linux again, once that knows */
		stream->anew = TNA_ANEW_BEGUN;
	if (stream->anew == TNA_ANEW_LEFT) /* Linux may know less of it than was fast */
		return FOLLOWED_NOT;
	stream_pieces(entry, direction, &part);
	if (stream->anew)
		return (!(part.flags & TCP_RST) || tracked_established(entry)) &&
				       stream_outside_anew(stream, entry, direction, &part, net) ==
					       WINDOWS_OUT
			       ? FOLLOWED_INVALID
			       : FOLLOWED_NOT;
	if (stream_catch_up(stream, entry, direction, &part,
			    stream_judge(stream, direction, &part) == WINDOWS_ASIDE))
		stream_lose(stream);
	if ((!(part.flags & TCP_RST) || tracked_established(entry)) &&
	    tracked_side_liberal(entry, direction) && stream_invalid(stream, entry, direction, &part, net)) {
		stream->disturbed += !looks;
		if (!looks && !stream_reset_late(stream, direction, &part, net))
			stream_note_invalid(stream, direction, &part);
		return FOLLOWED_INVALID;
	}
	if (looks)
		return FOLLOWED;
	u32 verdict = stream_judge(stream, direction, &part);
	u32 taken = verdict == WINDOWS_IN || stream_takes_all(stream, direction, net);

	if (taken && stream_is_reset(stream, direction, &part)) {
		stream->reset_at = bpf_ktime_get_ns();
		stream->reset = 1;
	}
	if (taken)
		stream_last(stream, direction, &part);
	else
		stream->disturbed++;
	if (part.flags & TCP_RST || !(part.flags & TCP_ACK))
		return FOLLOWED;
	if (taken)
		stream_notice(stream);
	if (verdict == WINDOWS_IN)
		stream->shut = !part.window;
	if ((verdict == WINDOWS_IN || verdict == WINDOWS_OVER) &&
	    stream_note(stream, entry, direction, &part, verdict))
		stream_lose(stream);
	return FOLLOWED;
}

#endif
