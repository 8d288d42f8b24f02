/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_TRANSLATION_H
#define TNA_BASE_TRANSLATION_H

/*
 * Other addresses and ports for a packet of TCP or UDP that is routed: what becomes of it is noted when that
 * is proved, and done where it is sent, as nf_nat_manip_pkt() does it. Checksums are not computed anew: what
 * was wrong stays wrong by as much.
 */

#include <tna/connection.h>

#include "base/altered.bpf.h"
#include "kernel/loop.bpf.h"
#include "packet/ipv4.bpf.h"
#include "packet/ipv6.bpf.h"

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_translation);
} translation SEC(".maps");

INLINE struct tna_translation *translation_note(void)
{
	u32 only = 0;

	return bpf_map_lookup_elem(&translation, &only);
}

/* What is noted of the packet that is to be sent; NULL: it stays as it is. Nothing is ever noted before
 * something was learnt of such packets. */
INLINE const struct tna_translation *translation_of_packet(void)
{
	if (likely(!any_altered()))
		return NULL;
	const struct tna_translation *note = translation_note();

	return note && note->steps ? note : NULL;
}

/* What a sum loses and gains by another number of 32 bits (or of 16, at an even place) in place of one. */
INLINE u64 sum_changes(u32 from, u32 to)
{
	return (u64)~from + to;
}

INLINE u64 sum_changes_wide(const u64 *from, const __u64 *to)
{
	u64 changes = 0;

	EACH (index, 2)
		changes +=
			sum_changes(from[index], to[index]) + sum_changes(from[index] >> 32, to[index] >> 32);
	return changes;
}

/* The checksum of what has changed. It never becomes 0xffff, for what is folded is never 0; nor does the
 * kernel's. */
INLINE u32 checksum_changed(u32 checksum, u64 changes)
{
	u64 sum = (checksum ^ 0xffff) + changes;

	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	return sum ^ 0xffff;
}

/* One that is unfinished is of the addresses, but not of the ports, and is not inverted yet
 * (inet_proto_csum_replace4()). What is folded is never 0. */
INLINE u32 unfinished_changed(u32 checksum, u64 changes)
{
	return checksum_changed(checksum ^ 0xffff, changes) ^ 0xffff;
}

/*
 * Ports and checksum of UDP, or else TCP, where addresses change the sum by so much. False, with nothing
 * changed: not all of it can be seen. A checksum of UDP that is 0 is none, and none becomes that.
 */
INLINE int translate_segment(hook_context *ctx, u8 *at, u8 *end, u32 protocol, u64 changes,
			     const struct tna_translation *to)
{
	u16 *checksum = (u16 *)(at + (protocol == PROTOCOL_UDP ? 6 : 16));

	if ((u8 *)(checksum + 1) > end)
		return 0;
	u16 *ports = (u16 *)at;

	if (hook_checksum_unfinished(hook_kernel_buffer(ctx))) {
		*checksum = unfinished_changed(*checksum, changes);
		ports[0] = to->source_port;
		ports[1] = to->destination_port;
		return 1;
	}
	changes += sum_changes(ports[0], to->source_port) + sum_changes(ports[1], to->destination_port);
	ports[0] = to->source_port;
	ports[1] = to->destination_port;
	if (protocol != PROTOCOL_UDP)
		*checksum = checksum_changed(*checksum, changes);
	else if (*checksum)
		*checksum = checksum_changed(*checksum, changes) ?: 0xffff;
	return 1;
}

/* As rewrite_routed(), of a packet that gets what is noted. In which order it loses a hop and gets addresses
 * makes no difference to the header's checksum, which is 0xffff after neither. */
NOINLINE int rewrite_translated4(hook_context *ctx, u64 destination, u64 source, u64 tags,
				 const struct tna_translation *to)
{
	u8 *ip = hook_data(ctx) + ((ETH_HLEN + tags_length(tags)) & 31), *end = hook_data_end(ctx);

	if (ip + IPV4_HEADER_LEN + 8 > end)
		return 0;
	u32 *ends = (u32 *)(ip + 12);
	u64 changes = sum_changes(ends[0], to->source[0]) + sum_changes(ends[1], to->destination[0]);

	if (!translate_segment(ctx, ip + IPV4_HEADER_LEN, end, *(ip + 9), changes, to))
		return 0;
	*(u16 *)(ip + 10) = checksum_changed(*(u16 *)(ip + 10), changes);
	ends[0] = to->source[0];
	ends[1] = to->destination[0];
	return ipv4_rewrite(ctx, destination, source, tags);
}

NOINLINE int rewrite_translated6(hook_context *ctx, u64 destination, u64 source, u64 tags,
				 const struct tna_translation *to)
{
	u8 *ip = hook_data(ctx) + ((ETH_HLEN + tags_length(tags)) & 31), *end = hook_data_end(ctx);

	if (ip + IPV6_HEADER_LEN + 8 > end)
		return 0;
	u64 *ends = (u64 *)(ip + 8);
	u64 changes = sum_changes_wide(ends, to->source) + sum_changes_wide(ends + 2, to->destination);

	if (!translate_segment(ctx, ip + IPV6_HEADER_LEN, end, *(ip + 6), changes, to))
		return 0;
	EACH (index, 2) {
		ends[index] = to->source[index];
		ends[index + 2] = to->destination[index];
	}
	return ipv6_rewrite(ctx, destination, source, tags);
}

#endif
