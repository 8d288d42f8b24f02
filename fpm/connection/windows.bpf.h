/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_WINDOWS_H
#define TNA_CONNECTION_WINDOWS_H

/*
 * What connection tracking makes of a segment by the windows of TCP (tcp_in_window(), of a connection of
 * which both sides have been seen), and what it notes of it.
 */

#include <tna/connection.h>

#include "kernel/loop.bpf.h"

#define TCP_FIN 0x01u
#define TCP_SYN 0x02u
#define TCP_RST 0x04u
#define TCP_PSH 0x08u
#define TCP_ACK 0x10u
#define TCP_URG 0x20u

/* What a segment says, in host order. */
struct tcp_part {
	u32 sequence;
	u32 end; /* the sequence number behind it */
	u32 ack;
	u32 sack;   /* the highest that is acknowledged, in pieces */
	u32 window; /* as it lies in the header */
	u32 flags;
};

enum windows_verdict {
	WINDOWS_IN,
	WINDOWS_ASIDE, /* passes, and nothing is noted */
	WINDOWS_OVER,  /* passes, and only its end is noted */
	WINDOWS_OUT,   /* invalid */
};

#define WINDOWS_ACK_LEAST 66000u /* MAXACKWINCONST */

INLINE int tcp_before(u32 one, u32 other)
{
	return (s32)(one - other) < 0;
}

APART u32 windows_judge(struct tna_stream_side *sender, struct tna_stream_side *receiver,
			struct tcp_part *part)
{
	if (!sender || !receiver || !part)
		return WINDOWS_OUT;
	u32 end = sender->end, maxend = sender->maxend, maxwin = sender->maxwin;
	u32 others_end = receiver->end, others_maxwin = receiver->maxwin;
	u32 behind = maxwin > WINDOWS_ACK_LEAST ? maxwin : WINDOWS_ACK_LEAST;
	u32 says_ack = part->flags & TCP_ACK && !(part->flags & TCP_RST && !part->ack);
	u32 sack = says_ack ? part->sack : others_end;
	int fresh = tcp_before(others_end - behind - 1, sack), known = tcp_before(sack, others_end + 1);
	int recent = tcp_before(end - others_maxwin - 1, part->end);

	if (!tcp_before(part->sequence, maxend + 1))
		return recent && fresh && known && part->end - maxend + 1 <= others_maxwin ? WINDOWS_OVER
											   : WINDOWS_OUT;
	if (!known)
		return WINDOWS_OUT;
	return recent && fresh ? WINDOWS_IN : WINDOWS_ASIDE;
}

/* How the function below is called: in the fast path, without a call. */
#ifndef RAISE
#define RAISE INLINE
#endif

/* Forwards only. Not 0: somebody else moves it as well, again and again. */
RAISE u64 windows_raise(u32 *number, u32 to)
{
	if (!number)
		return 1;
	u32 from = *(volatile u32 *)number;

	EACH (turn, 4) {
		if (!tcp_before(from, to))
			return 0;
		u32 found = __sync_val_compare_and_swap(number, from, to);

		if (found == from)
			return 0;
		from = found;
	}
	return 1;
}

/* Of a segment that passes. Not 0: it could not be noted. `scale` is that of its sender's windows. */
APART u64 windows_note(struct tna_stream_side *sender, struct tna_stream_side *receiver,
		       struct tcp_part *part, u32 verdict, u32 scale)
{
	if (!sender || !receiver || !part)
		return 1;
	u32 window = part->window << (scale & 15), end = part->end, maxend = sender->maxend;

	if (verdict == WINDOWS_OVER) { /* also back, if an earlier one went further */
		*(volatile u32 *)&sender->end = end;
		return 0;
	}
	u64 word = windows_raise(&sender->end, end);

	word |= windows_raise(&sender->maxwin, window + (part->sack - part->ack));
	if (tcp_before(maxend, end))
		word |= windows_raise(&receiver->maxwin, receiver->maxwin + (end - maxend));
	word |= windows_raise(&receiver->maxend, part->sack + window + !window);
	word |= windows_raise(&receiver->acked, part->ack);
	return word;
}

#endif
