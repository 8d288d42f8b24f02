/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_STREAM_H
#define TNA_CONNECTION_STREAM_H

/*
 * Connections of TCP. Packets that pass connection tracking by leave its idea of their windows behind, and
 * then it calls others invalid. So it is told (by the controller) to be liberal about them, and their windows
 * are judged here: of all packets that are seen, fast or not, from when it still knew itself.
 */

#include "base/reason.bpf.h"
#include "connection/rules.bpf.h"
#include "connection/tracked.bpf.h"
#include "connection/windows.bpf.h"

/* By the address of the connection's entry. None has to make room for another one: Linux minds no windows of
 * them any more. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u64);
	__type(value, struct tna_stream);
} streams SEC(".maps");

/* What connection tracking knows of what one side has sent (struct ip_ct_tcp_state). */
INLINE u64 tracked_side(u64 entry, u32 direction)
{
	return KADDR(struct nf_conn, entry, proto.tcp.seen) +
	       (direction & 1) * bpf_core_type_size(struct ip_ct_tcp_state);
}

INLINE u32 tracked_side_flags(u64 entry, u32 direction)
{
	return KLOAD(u8, KADDR(struct ip_ct_tcp_state, tracked_side(entry, direction), flags));
}

INLINE u32 tracked_side_scale(u64 entry, u32 direction)
{
	return KLOAD(u8, KADDR(struct ip_ct_tcp_state, tracked_side(entry, direction), td_scale));
}

INLINE void tracked_side_read(u64 entry, u32 direction, struct tna_stream_side *side)
{
	u64 seen = tracked_side(entry, direction);

	side->end = KLOAD(u32, KADDR(struct ip_ct_tcp_state, seen, td_end));
	side->maxend = KLOAD(u32, KADDR(struct ip_ct_tcp_state, seen, td_maxend));
	side->maxwin = KLOAD(u32, KADDR(struct ip_ct_tcp_state, seen, td_maxwin));
	side->acked =
		KLOAD(u32, KADDR(struct ip_ct_tcp_state, tracked_side(entry, !(direction & 1)), td_maxack));
}

/* Linux is liberal about both sides: no packet in the middle is invalid to it. */
INLINE u32 tracked_liberal(u64 entry)
{
	return tracked_side_flags(entry, 0) & tracked_side_flags(entry, 1) & TRACKED_LIBERAL;
}

/* Liberal about segments of this side. So it is of the one that has answered another handshake, until it is
 * told about both again (nf_ct_tcp_state_reset()). */
INLINE u32 tracked_side_liberal(u64 entry, u32 direction)
{
	return tracked_side_flags(entry, direction) & TRACKED_LIBERAL;
}

INLINE u32 tracked_established(u64 entry)
{
	return KLOAD(u8, KADDR(struct nf_conn, entry, proto.tcp.state)) == TRACKED_ESTABLISHED;
}

/* Within a handshake: it takes the windows from that. */
INLINE int tracked_begins(u64 entry)
{
	u32 state = KLOAD(u8, KADDR(struct nf_conn, entry, proto.tcp.state));

	return state == TRACKED_SYN_SENT || state == TRACKED_SYN_RECV || state == TRACKED_SYN_SENT2;
}

/* Linux has forgotten the windows of a side, as of all connections when it begins to track them again
 * (nf_ct_tcp_fixup()), or of one that leaves a flowtable: how much has passed meanwhile, nobody knows. */
INLINE int tracked_forgotten(u64 entry)
{
	return !KLOAD(u32, KADDR(struct ip_ct_tcp_state, tracked_side(entry, 0), td_maxwin)) ||
	       !KLOAD(u32, KADDR(struct ip_ct_tcp_state, tracked_side(entry, 1), td_maxwin));
}

/*
 * The next packet in the middle would change more than windows and the time that is left: the state, what is
 * known of the last packet (which others are compared with), or the number of those that came again.
 */
INLINE u64 tracked_restless(u64 entry)
{
	u64 tcp = KADDR(struct nf_conn, entry, proto.tcp), word = 0;

	COLLECT(word, !tracked_established(entry));
	COLLECT(word, KLOAD(u8, KADDR(struct ip_ct_tcp, tcp, last_index)) ^ TRACKED_LAST_ACK);
	COLLECT(word, KLOAD(u8, KADDR(struct ip_ct_tcp, tcp, retrans)));
	COLLECT(word, !KLOAD(u16, KADDR(struct ip_ct_tcp, tcp, last_win)));
	return word;
}

/* nf_conntrack_tcp_ignore_invalid_rst */
INLINE u32 tracking_ignores_resets(u64 net)
{
	return bpf_core_field_exists(struct nf_tcp_net, tcp_ignore_invalid_rst)
		       ? KLOAD(u8, KADDR(struct net, net, ct.nf_ct_proto.tcp.tcp_ignore_invalid_rst))
		       : 0;
}

/*
 * Connections may be translated and fast. A packet that connection tracking calls invalid has no connection,
 * so it is not translated, and goes elsewhere: to this host, or out with the addresses that it has. Linux has
 * been told to call none of a fast connection so; which is all the same only if each is dropped, before that
 * or at both places, or if none is called so in any case. So it is with marks that rules put on the packets
 * of a connection before they are routed, but that one without may be routed anywhere.
 */
INLINE u32 invalid_ends_early(u64 net, const volatile struct tna_judged_rules *judged)
{
	return judged->steady & TNA_INVALID_DROPPED_EARLY ||
	       (tracking_liberal(net) && tracking_ignores_resets(net));
}

/* Of the two places, that of this host is for what is for an address of it, of which lessons are sure. */
INLINE u32 translated_in_order(u64 net, const volatile struct tna_judged_rules *judged)
{
	const u32 at_both = TNA_INVALID_DROPPED | TNA_INVALID_DROPPED_FOR_HOST;

	return invalid_ends_early(net, judged) || (judged->steady & at_both) == at_both;
}

/* Pieces that are acknowledged count where the other side has asked for them. */
INLINE void stream_pieces(u64 entry, u32 direction, struct tcp_part *part)
{
	if (!(tracked_side_flags(entry, !(direction & 1)) & TRACKED_SACK))
		part->sack = part->ack;
}

INLINE struct tna_stream_side *stream_side(struct tna_stream *stream, u32 direction)
{
	return direction & 1 ? &stream->sides[1] : &stream->sides[0];
}

INLINE u32 stream_judge(struct tna_stream *stream, u32 direction, struct tcp_part *part)
{
	return windows_judge(stream_side(stream, direction), stream_side(stream, !(direction & 1)), part);
}

/* TCP_ACK_SET */
INLINE int is_mere_ack(const struct tcp_part *part)
{
	return (part->flags & (TCP_ACK | TCP_SYN | TCP_FIN | TCP_RST)) == TCP_ACK;
}

/* A packet came, and was taken. */
INLINE void stream_notice(struct tna_stream *stream)
{
	*(volatile u64 *)&stream->used = bpf_jiffies64();
}

INLINE u64 stream_note(struct tna_stream *stream, u64 entry, u32 direction, struct tcp_part *part,
		       u32 verdict)
{
	if (verdict == WINDOWS_IN && is_mere_ack(part)) {
		*(volatile u32 *)&stream->last_end = part->end;
		*(volatile u32 *)&stream->last_direction = direction & 1;
		*(volatile u32 *)&stream->last_other = 0;
	}
	return windows_note(stream_side(stream, direction), stream_side(stream, !(direction & 1)), part,
			    verdict, tracked_side_scale(entry, direction));
}

/* A reset of what has been acknowledged: invalid whether Linux is liberal or not, and nothing is noted of it.
 */
INLINE u32 stream_reset_late(struct tna_stream *stream, u32 direction, const struct tcp_part *part, u64 net)
{
	return part->flags & TCP_RST && !stream->lost && !tracking_ignores_resets(net) &&
	       tcp_before(part->sequence, stream_side(stream, direction)->acked);
}

/* A FIN or a reset outside of the windows (nf_tcp_handle_invalid()): where both sides want to end a
 * connection that this does not know them to have, it is forgotten soon. */
INLINE void stream_note_invalid(struct tna_stream *stream, u32 direction, const struct tcp_part *part)
{
	if (!(part->flags & (TCP_RST | TCP_FIN)))
		return;
	if (stream->last_other >= TNA_LAST_RESET && stream->last_direction != (direction & 1)) {
		stream->given_up_after = stream->used;
		stream->given_up_at = bpf_ktime_get_ns();
	} else {
		stream->last_direction = direction & 1;
		stream->last_other = TNA_LAST_INVALID;
	}
}

/* Linux takes segments outside of the windows, too: as it would if nobody had told it so here. */
INLINE u32 stream_takes_all(const struct tna_stream *stream, u32 direction, u64 net)
{
	return !(stream->judged >> (direction & 1) & 1) || tracking_liberal(net);
}

/* As it is known here, but with the largest window that Linux knows. Where Linux was when it was looked at
 * may be so far behind by now that it seems to be ahead. */
INLINE void stream_side_read(struct tna_stream *stream, u64 entry, u32 direction,
			     struct tna_stream_side *side)
{
	const struct tna_stream_side *known = stream_side(stream, direction);

	tracked_side_read(entry, direction, side);
	side->end = known->end;
	side->maxend = known->maxend;
}

/* Linux has noted more of a side than was taken from it, or has forgotten the side. */
INLINE u64 stream_side_unsure(const struct tna_stream *stream, u64 entry, u32 direction)
{
	const struct tna_stream_side *noted = direction ? &stream->noted[1] : &stream->noted[0];
	u64 side = tracked_side(entry, direction), word = 0;
	u32 maxwin = KLOAD(u32, KADDR(struct ip_ct_tcp_state, side, td_maxwin));

	COLLECT(word, KLOAD(u32, KADDR(struct ip_ct_tcp_state, side, td_end)) ^ noted->end);
	COLLECT(word, KLOAD(u32, KADDR(struct ip_ct_tcp_state, side, td_maxend)) ^ noted->maxend);
	COLLECT(word, !maxwin || maxwin > (direction ? &stream->sides[1] : &stream->sides[0])->maxwin);
	return word;
}

/* Invalid, by the windows as they are known here, where Linux knows nothing besides: elsewhere it is asked.
 */
INLINE u32 stream_surely_invalid(struct tna_stream *stream, u64 entry, u32 direction, struct tcp_part *part,
				 u64 net)
{
	if (stream_reset_late(stream, direction, part, net))
		return 1;
	return !stream_takes_all(stream, direction, net) &&
	       stream_judge(stream, direction, part) == WINDOWS_OUT &&
	       !(stream_side_unsure(stream, entry, 0) | stream_side_unsure(stream, entry, 1));
}

/* Invalid, by the windows as they are known here, with all that Linux has noted besides (stream_catch_up()).
 */
INLINE u32 stream_invalid(struct tna_stream *stream, u64 entry, u32 direction, struct tcp_part *part, u64 net)
{
	struct tna_stream_side sender, receiver;

	if (stream_reset_late(stream, direction, part, net))
		return 1;
	if (stream_takes_all(stream, direction, net))
		return 0;
	if (stream_judge(stream, direction, part) != WINDOWS_OUT)
		return 0;
	stream_side_read(stream, entry, direction, &sender);
	stream_side_read(stream, entry, !(direction & 1), &receiver);
	/* Where it has forgotten a side (nf_ct_tcp_fixup()), it takes what comes. */
	return sender.maxwin && receiver.maxwin && windows_judge(&sender, &receiver, part) == WINDOWS_OUT;
}

#endif
