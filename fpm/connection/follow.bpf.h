/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_FOLLOW_H
#define TNA_CONNECTION_FOLLOW_H

/* Segments of TCP that Linux has let pass: their connection's windows move by them as by those that were
 * fast. */

#include "connection/segment.bpf.h"
#include "connection/stream.bpf.h"

#define TCP_OPTIONS_MOST 40

/* tcp_sack(): the highest that is acknowledged, wherever that lies. */
APART u32 passed_pieces(u64 options, u32 length, u32 ack)
{
	u32 sack = ack, at = 0, size = 0;
	struct search pieces;

	SEARCH (pieces, TCP_OPTIONS_MOST) {
		u32 kind = KLOAD(u8, options + at);

		if (at >= length || kind == TCP_END)
			CONCLUDE(pieces, search_none());
		size = kind == TCP_NOTHING ? 1 : KLOAD(u8, options + at + 1);
		if (!size || (kind != TCP_NOTHING && size < 2) || size > length - at)
			CONCLUDE(pieces, search_none());
		if (kind == TCP_PIECES && size >= 10 && (size - 2) % 8 == 0)
			CONCLUDE(pieces, search_found(options + at + 2));
		at = (at + size) & 63; /* below the length, which is 40 at most: for the verifier */
	}
	u64 piece = found_or_linux(pieces);

	EACH (index, 4) {
		if (!piece || 2 + 8 * (index + 1) > size)
			break;
		u32 edge = bpf_ntohl(KLOAD(u32, piece + 8 * index + 4));

		if (tcp_before(sack, edge))
			sack = edge;
	}
	return sack;
}

/* False: not all of its headers can be seen. */
INLINE int passed_parse(struct sk_buff *skb, u64 header, u32 header_length, struct tcp_part *part)
{
	u32 seen = KGET(u32, skb, len) - KGET(u32, skb, data_len);
	u64 at = header + header_length;
	u32 length = (KLOAD(u8, at + 12) >> 4) * 4;

	if (seen < header_length + 20 || length < 20 || seen < header_length + length)
		return 0;
	part->flags = KLOAD(u8, at + 13);
	part->sequence = bpf_ntohl(KLOAD(u32, at + 4));
	part->ack = bpf_ntohl(KLOAD(u32, at + 8));
	part->sack = passed_pieces(at + 20, length - 20, part->ack);
	part->window = bpf_ntohs(KLOAD(u16, at + 14));
	part->end = part->sequence + KGET(u32, skb, len) - header_length - length + (part->flags & TCP_FIN);
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

/* Of a connection of which both sides have been seen, and from when connection tracking knows its windows:
 * nothing has passed it by. */
NOINLINE int stream_begin(u64 entry)
{
	struct tna_stream stream = {.born = bpf_ktime_get_ns(), .used = bpf_jiffies64()};
	const struct tna_stream *before = bpf_map_lookup_elem(&streams, &entry);

	if (before && !before->anew)
		return 1; /* somebody else has begun */
	stream_ends(entry, &stream);
	EACH (direction, 2) {
		u32 flags = tracked_side_flags(entry, direction);

		tracked_side_read(entry, direction, &stream.sides[direction]);
		if (!(flags & TRACKED_LIBERAL))
			stream.judged |= 1u << direction;
		if (!(flags & TRACKED_HAS_ACKED) || !stream.sides[direction].maxwin)
			return 1;
	}
	if (before) /* Linux has been told not to mind windows, and keeps that for one side */
		stream.judged = before->judged;
	return bpf_map_update_elem(&streams, &entry, &stream, before ? BPF_ANY : BPF_NOEXIST) != 0;
}

/* Of a packet's mark by connection tracking. */
INLINE int is_established(u64 tracked)
{
	u32 info = tracked & CONNECTION_INFO;

	return info == CONNECTION_ESTABLISHED || info == CONNECTION_ESTABLISHED_REPLY;
}

/* What connection tracking has noted besides: of segments that rules have dropped, or that came out
 * elsewhere. Not 0: that could not be noted. */
INLINE u64 stream_catch_up(struct tna_stream *stream, u64 entry)
{
	struct tna_stream_side seen;
	u64 word = 0;

	EACH (direction, 2) {
		struct tna_stream_side *side = stream_side(stream, direction);

		tracked_side_read(entry, direction, &seen);
		if (!seen.maxwin) /* forgotten */
			continue;
		word |= windows_raise(&side->end, seen.end);
		word |= windows_raise(&side->maxend, seen.maxend);
		word |= windows_raise(&side->maxwin, seen.maxwin);
		word |= windows_raise(&side->acked, seen.acked);
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

/* Instead of noting a segment, only say whether it is invalid. */
#define FOLLOW_LOOKS 0x100u

/* A segment of TCP that has come by, behind so many bytes of headers (0: behind others than are looked at).
 */
NOINLINE int stream_follow(struct sk_buff *skb, u64 header, u32 length, u64 tracked, u64 net)
{
	u64 entry = tracked & ~CONNECTION_INFO;
	u32 direction = (tracked & CONNECTION_INFO) == CONNECTION_ESTABLISHED_REPLY;
	struct tna_stream *stream = bpf_map_lookup_elem(&streams, &entry);
	struct tcp_part part;
	u32 looks = length & FOLLOW_LOOKS;

	length &= ~FOLLOW_LOOKS;
	if (!stream)
		return FOLLOWED_NOT;
	if (!is_established(tracked) || stream_differs(stream, entry)) {
		bpf_map_delete_elem(&streams, &entry); /* it was another one's */
		return FOLLOWED_NOT;
	}
	if (!length || !passed_parse(skb, header, length, &part)) { /* noted twice is as once */
		stream_lose(stream);
		return FOLLOWED;
	}
	if (part.flags & TCP_SYN && looks)
		return FOLLOWED_NOT;
	if (part.flags & TCP_SYN) {
		stream->reset = 0;
		if (!tracked_established(entry)) /* connection tracking begins anew */
			stream->anew = 1;
		return FOLLOWED_NOT;
	}
	if (stream->anew)
		return FOLLOWED_NOT;
	if (stream_catch_up(stream, entry))
		stream_lose(stream);
	stream_pieces(entry, direction, &part);
	if ((!(part.flags & TCP_RST) || tracked_established(entry)) && tracked_liberal(entry) &&
	    stream_invalid(stream, entry, direction, &part, net))
		return FOLLOWED_INVALID;
	if (looks)
		return FOLLOWED;
	u32 verdict = stream_judge(stream, direction, &part);

	if (part.flags & TCP_RST && (verdict == WINDOWS_IN || !stream->judged) &&
	    (part.sequence == stream_side(stream, direction)->acked ||
	     (part.sequence == stream->last_end && stream->last_direction == direction)))
		stream->reset = 1;
	if (part.flags & TCP_RST || !(part.flags & TCP_ACK))
		return FOLLOWED;
	if (verdict == WINDOWS_IN)
		stream->shut = !part.window;
	if ((verdict == WINDOWS_IN || verdict == WINDOWS_OVER) &&
	    stream_note(stream, entry, direction, &part, verdict))
		stream_lose(stream);
	return FOLLOWED;
}

#endif
