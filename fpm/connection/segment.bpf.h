/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_SEGMENT_H
#define TNA_CONNECTION_SEGMENT_H

/* What is behind the IP header of a packet in the middle of a flow, as connection tracking looks at it. */

#include <tna/connection.h>

#include "base/reason.bpf.h"
#include "base/tags.bpf.h"
#include "connection/windows.bpf.h"
#include "packet/ipv4.bpf.h"
#include "packet/ipv6.bpf.h"

#define IPV4_FRAGMENT 0xff3fu /* more to come, or not the first one; in network order */
#define TCP_HEADER_LEN 20
#define UDP_HEADER_LEN 8
#define SEGMENT_MOST 2048u /* bytes of which the checksum is computed */

struct segment {
	u32 protocol;
	u16 source_port;
	u16 destination_port;
	u32 service; /* as lessons have it */
	u32 begins;  /* behind how many bytes of the frame */
	u32 length;
	u32 checksum; /* as it lies in the header; of UDP, 0: there is none */
	struct tcp_part tcp;
};

#define TCP_WORD(one, two, three, four) bpf_htonl((one) << 24 | (two) << 16 | (three) << 8 | (four))
#define TCP_END 0u /* options, by kind; behind all but the first two, their length */
#define TCP_NOTHING 1u
#define TCP_PIECES 5u
#define TCP_TIMESTAMP 8u
#define TCP_TIMES TCP_WORD(TCP_NOTHING, TCP_NOTHING, TCP_TIMESTAMP, 10u)
#define TCP_PIECES_OF(number) TCP_WORD(TCP_NOTHING, TCP_NOTHING, TCP_PIECES, 2 + 8u * (number))

/*
 * What is acknowledged in pieces, where options lie as everybody has them: times, or pieces, or times and
 * then pieces. Not 0: as nobody has them.
 */
INLINE u64 segment_pieces(u8 *at, u8 *end, u32 length, struct tcp_part *tcp)
{
	if (!length)
		return 0;
	if (at + 4 > end)
		return 1;
	if (*(u32 *)at == TCP_TIMES && length >= 12) {
		at += 12;
		length -= 12;
		if (!length)
			return 0;
		if (at + 4 > end)
			return 1;
	}
	u32 first = *(u32 *)at, number = (length - 4) / 8;

	if (length != 4 + 8 * number || number < 1 || number > 4)
		return 1;
	EACH (index, 4) {
		if (index >= number)
			break;
		if (index + 1 == number && first != TCP_PIECES_OF(index + 1))
			return 1;
		if (at + 12 + 8 * index > end)
			return 1;
		u32 sack = bpf_ntohl(*(u32 *)(at + 8 + 8 * index));

		if (tcp_before(tcp->sack, sack))
			tcp->sack = sack;
	}
	return 0;
}

/* Of TCP, with a header as it should be (tcp_error()); neither the beginning of a connection nor a segment
 * with flags that make no sense. */
INLINE u32 segment_parse_tcp(u8 *at, u8 *end, struct segment *segment)
{
	struct tcp_part *tcp = &segment->tcp;

	BECAUSE(at + TCP_HEADER_LEN > end, FLOW_KIND);
	u32 header = *(u8 *)(at + 12), length = (header >> 4) * 4;

	BECAUSE(length < TCP_HEADER_LEN || length > segment->length || header & 0xf, FLOW_KIND);
	tcp->flags = *(u8 *)(at + 13);
	tcp->sequence = bpf_ntohl(*(u32 *)(at + 4));
	tcp->ack = tcp->sack = bpf_ntohl(*(u32 *)(at + 8));
	tcp->window = bpf_ntohs(*(u16 *)(at + 14));
	tcp->end = tcp->sequence + segment->length - length + (tcp->flags & TCP_FIN);
	segment->checksum = *(u16 *)(at + 16) | 1u << 16;
	BECAUSE(tcp->flags & TCP_SYN || !(tcp->flags & (TCP_ACK | TCP_RST)), FLOW_KIND);
	BECAUSE(tcp->flags & TCP_RST && tcp->flags & (TCP_FIN | TCP_URG), FLOW_KIND);
	BECAUSE(segment_pieces(at + TCP_HEADER_LEN, end, length - TCP_HEADER_LEN, tcp), FLOW_KIND);
	return REASON_NONE;
}

/* The packet can be in the middle of a connection: its like have passed the rules, which do not look at
 * PSH. */
INLINE u32 segment_in_the_middle(const struct segment *segment)
{
	return segment->protocol == PROTOCOL_UDP ||
	       ((segment->tcp.flags & ~TCP_PSH) == TCP_ACK && segment->tcp.window);
}

/* Behind the IP header: of UDP, a header that says of the length what IP says (udp_error()). What is behind
 * the segment is padding. */
INLINE u32 segment_parse_behind(hook_context *ctx, struct segment *segment)
{
	u8 *at = hook_data(ctx) + segment->begins, *end = hook_data_end(ctx);

	BECAUSE(at + UDP_HEADER_LEN > end || segment->length < UDP_HEADER_LEN, FLOW_KIND); /* TCP has more */
	BECAUSE(segment->protocol != PROTOCOL_UDP && segment->protocol != PROTOCOL_TCP, FLOW_KIND);
	segment->source_port = *(u16 *)at;
	segment->destination_port = *(u16 *)(at + 2);
	if (segment->protocol == PROTOCOL_TCP)
		return segment_parse_tcp(at, end, segment);
	segment->checksum = *(u16 *)(at + 6);
	BECAUSE(bpf_ntohs(*(u16 *)(at + 4)) != segment->length, FLOW_KIND);
	return REASON_NONE;
}

/* A packet of UDP or TCP, whole and without IP options. */
INLINE u32 segment_parse(hook_context *ctx, struct segment *segment, struct tna_ends *ends)
{
	struct ipv4 ip;

	BECAUSE(!ipv4_parse(ctx, &ip, TAGS_MOST), SHORT);
	u8 *data = hook_data(ctx) + tags_length(ip.ethernet.tags), *end = hook_data_end(ctx);

	BECAUSE(!ipv4_start_plain(ip.start) || ipv4_length_wrong(&ip), FLOW_KIND);
	BECAUSE(data + PACKET_MIN > end || *(u16 *)(data + ETH_HLEN + 6) & IPV4_FRAGMENT, FLOW_KIND);
	segment->protocol = ip.tuple.protocol;
	segment->service = ip.start >> 24;
	segment->begins = ETH_HLEN + IPV4_HEADER_LEN + tags_length(ip.ethernet.tags);
	segment->length = ip.total - IPV4_HEADER_LEN;
	UNLESS_BECAUSE(segment_parse_behind(ctx, segment));
	*ends = (struct tna_ends){.source = ip.tuple.addresses,
				  .destination = ip.tuple.addresses >> 32,
				  .source_port = segment->source_port,
				  .destination_port = segment->destination_port,
				  .protocol = segment->protocol};
	return REASON_NONE;
}

/* The same over IPv6, without extension headers. */
INLINE u32 segment6_parse(hook_context *ctx, struct segment *segment, struct tna_ends6 *ends)
{
	struct ipv6 ip;

	BECAUSE(!ipv6_parse(ctx, &ip, TAGS_MOST), SHORT);
	u8 *data = hook_data(ctx) + tags_length(ip.ethernet.tags), *end = hook_data_end(ctx);

	BECAUSE(data + IPV6_FRAME_MIN > end || ipv6_header_wrong(&ip), FLOW_KIND);
	segment->protocol = ip.tuple.protocol;
	segment->service = *(u32 *)(data + ETH_HLEN);
	segment->begins = IPV6_FRAME_MIN + tags_length(ip.ethernet.tags);
	segment->length = ip.total - IPV6_HEADER_LEN;
	UNLESS_BECAUSE(segment_parse_behind(ctx, segment));
	*ends = (struct tna_ends6){.source = {ip.tuple.source.prefix, ip.tuple.source.rest},
				   .destination = {ip.tuple.destination.prefix, ip.tuple.destination.rest},
				   .source_port = segment->source_port,
				   .destination_port = segment->destination_port,
				   .protocol = segment->protocol};
	return REASON_NONE;
}

/*
 * Parts of the segment from an offset on. Each offset is computed from the length, and not from where the
 * part before it ended: whichever parts there are, the verifier comes out of each with the same state, and
 * follows what comes next once and not for each combination. Long parts are added up by the kernel:
 * before 6.13, of 512 bytes at most. For short ones a call costs more than that. Long ones come first: the
 * kernel goes on from a sum of 32 bits only, and that of short parts has more.
 */
#define SUM(offset, bytes)                                                                                   \
	do {                                                                                                 \
		u8 *part = segment + (offset);                                                               \
                                                                                                             \
		if (part + (bytes) > end)                                                                    \
			return 1;                                                                            \
		sum = bpf_csum_diff(0, 0, (u32 *)part, (bytes), sum);                                        \
		if (sum < 0)                                                                                 \
			return 1;                                                                            \
	} while (0)

#define SUM_SHORT(offset, bytes)                                                                             \
	do {                                                                                                 \
		u8 *part = segment + (offset);                                                               \
                                                                                                             \
		if (part + (bytes) > end)                                                                    \
			return 1;                                                                            \
		EACH (word, (bytes) / 4)                                                                     \
			sum += ((u32 *)part)[word];                                                          \
	} while (0)

/* Where the part of so many bytes is, a power of two: behind the larger ones. */
#define SUM_OFFSET(bytes) (length & (SEGMENT_MOST - 2 * (bytes)))

/* It, if there is one. */
#define SUM_PART(add, bytes)                                                                                 \
	if (length & (bytes))                                                                                \
	add(SUM_OFFSET(bytes), bytes)

/* Not 0: the checksum over the segment is wrong, or nobody has computed it. */
APART u32 segment_checksum_wrong(hook_context *ctx, u32 begins, u32 length, u32 ends_sum)
{
	u8 *segment = hook_data(ctx) + (begins & 127), *end = hook_data_end(ctx);
	s64 sum = ends_sum;

	if (length >= SEGMENT_MOST)
		return 1;
	EACH (index, SEGMENT_MOST / 512 - 1) {
		if (length >= 512 * (index + 1))
			SUM(512 * index, 512);
	}
	SUM_PART(SUM, 256);
	SUM_PART(SUM, 128);
	SUM_PART(SUM_SHORT, 64);
	SUM_PART(SUM_SHORT, 32);
	SUM_PART(SUM_SHORT, 16);
	SUM_PART(SUM_SHORT, 8);
	SUM_PART(SUM_SHORT, 4);
	if (length & 2) {
		u8 *part = segment + SUM_OFFSET(2);

		if (part + 2 > end)
			return 1;
		sum += *(u16 *)part;
	}
	if (length & 1) {
		u8 *part = segment + SUM_OFFSET(1);

		if (part + 1 > end)
			return 1;
		sum += *part;
	}
	sum = (sum & 0xffff) + (sum >> 16); /* of at most 38 bits: */
	sum = (sum & 0xffff) + (sum >> 16); /* 23 */
	sum = (sum & 0xffff) + (sum >> 16); /* 17 */
	return sum ^ 0xffff;
}

/* What the checksum takes in besides the segment, in 32 bits: `addresses` is the sum of what they are made
 * of. */
INLINE u32 segment_ends_sum(const struct segment *segment, u64 addresses)
{
	u64 sum = addresses + bpf_htons(segment->protocol) + bpf_htons(segment->length);

	sum = (u32)sum + (sum >> 32);
	return (u32)sum + (u32)(sum >> 32);
}

INLINE u64 ends_sum(const struct tna_ends *ends)
{
	return (u64)ends->source + ends->destination;
}

INLINE u64 ends6_sum(const struct tna_ends6 *ends)
{
	u64 sum = 0;

	EACH (index, 2)
		sum += (ends->source[index] & 0xffffffff) + (ends->source[index] >> 32) +
		       (ends->destination[index] & 0xffffffff) + (ends->destination[index] >> 32);
	return sum;
}

#endif
