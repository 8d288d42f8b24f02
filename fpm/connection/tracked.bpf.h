/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_TRACKED_H
#define TNA_CONNECTION_TRACKED_H

/*
 * A connection's entry, read in place. Its memory may become another connection's at any moment
 * (SLAB_TYPESAFE_BY_RCU), so each packet proves that the entry is its own.
 */

#include "kernel/conntrack_types.h"
#include <tna/connection.h>

#include "kernel/access.h"

#define TRACKED_INET 2   /* AF_INET */
#define TRACKED_INET6 10 /* AF_INET6 */

#define CONNECTION_MUST (CONNECTION_SEEN_REPLY | CONNECTION_ASSURED | CONNECTION_CONFIRMED)
/* With other sequence numbers, on its way out, somebody else's, or with a time of its own. */
#define CONNECTION_MUST_NOT                                                                                  \
	(CONNECTION_SEQ_ADJUST | CONNECTION_DYING | CONNECTION_FIXED_TIMEOUT | CONNECTION_TEMPLATE |         \
	 CONNECTION_NAT_CLASH | CONNECTION_HELPER | CONNECTION_OFFLOAD | CONNECTION_HW_OFFLOAD)

/* The place of an extension that a kernel may lack; 0 if the connection does not have it. */
#define CONNECTION_HAS(extensions, id)                                                                       \
	(bpf_core_enum_value_exists(enum nf_ct_ext_id, id)                                                   \
		 ? KLOAD(u8, (extensions) + bpf_core_enum_value(enum nf_ct_ext_id, id))                      \
		 : 0)

/*
 * What a packet would change or be changed by: accounts, timeouts of its own, and so on. Not so the place for
 * adjusted sequence numbers, of which the status tells whether there are any, nor that of a proxy for
 * handshakes, which is a function of its own among those that netfilter calls: what programs have put into
 * the table (conntrackd) has both.
 */
INLINE u64 tracked_extended(u64 entry)
{
	u64 extensions = KLOAD(u64, KADDR(struct nf_conn, entry, ext)), word = 0;

	if (!extensions)
		return 0;
	extensions = KADDR(struct nf_ct_ext, extensions, offset);
	word |= CONNECTION_HAS(extensions, NF_CT_EXT_HELPER);
	word |= CONNECTION_HAS(extensions, NF_CT_EXT_ACCT);
	word |= CONNECTION_HAS(extensions, NF_CT_EXT_TIMEOUT);
	word |= CONNECTION_HAS(extensions, NF_CT_EXT_LABELS);
	word |= CONNECTION_HAS(extensions, NF_CT_EXT_ACT_CT);
	return word;
}

INLINE u32 tracked_mark(u64 entry)
{
	return bpf_core_field_exists(struct nf_conn, mark) ? KLOAD(u32, KADDR(struct nf_conn, entry, mark))
							   : 0;
}

/* So long does it live without another packet, in jiffies; not above 0: it is over. */
INLINE s32 tracked_left(u64 entry)
{
	return KLOAD(u32, KADDR(struct nf_conn, entry, timeout)) - (u32)bpf_jiffies64();
}

/* Nobody finds it any more, or not for long; or its memory is nobody's. */
INLINE u32 tracked_over(u64 entry)
{
	return !KLOAD(u32, KADDR(struct nf_conn, entry, ct_general.use.refs.counter)) ||
	       KLOAD(u32, KADDR(struct nf_conn, entry, status)) & CONNECTION_DYING ||
	       tracked_left(entry) <= 0;
}

/* What the entry says of the ends of one direction. */
INLINE u64 tracked_tuple(u64 entry, u32 direction)
{
	return KADDR(struct nf_conn, entry, tuplehash) +
	       (direction & 1) * bpf_core_type_size(struct nf_conntrack_tuple_hash) +
	       bpf_core_field_offset(struct nf_conntrack_tuple_hash, tuple);
}

/* The entry is not one of these ends in this direction. */
INLINE u64 tracked_ends_differ(u64 entry, u32 direction, const struct tna_ends *ends)
{
	u64 tuple = tracked_tuple(entry, direction), word = 0;

	COLLECT(word, KLOAD(u32, KADDR(struct nf_conntrack_tuple, tuple, src.u3.all)) ^ ends->source);
	COLLECT(word, KLOAD(u32, KADDR(struct nf_conntrack_tuple, tuple, dst.u3.all)) ^ ends->destination);
	COLLECT(word, KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, src.u.all)) ^ ends->source_port);
	COLLECT(word,
		KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, dst.u.all)) ^ ends->destination_port);
	COLLECT(word, KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, src.l3num)) ^ TRACKED_INET);
	return word;
}

INLINE u64 tracked_ends6_differ(u64 entry, u32 direction, const struct tna_ends6 *ends)
{
	u64 tuple = tracked_tuple(entry, direction), word = 0;
	u64 source = KADDR(struct nf_conntrack_tuple, tuple, src.u3.all);
	u64 destination = KADDR(struct nf_conntrack_tuple, tuple, dst.u3.all);

	COLLECT(word, KLOAD(u64, source) ^ ends->source[0]);
	COLLECT(word, KLOAD(u64, source + 8) ^ ends->source[1]);
	COLLECT(word, KLOAD(u64, destination) ^ ends->destination[0]);
	COLLECT(word, KLOAD(u64, destination + 8) ^ ends->destination[1]);
	COLLECT(word, KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, src.u.all)) ^ ends->source_port);
	COLLECT(word,
		KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, dst.u.all)) ^ ends->destination_port);
	COLLECT(word, KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, src.l3num)) ^ TRACKED_INET6);
	return word;
}

/* `ends` are a struct tna_ends or tna_ends6. */
INLINE u64 tracked_differs(u64 entry, u32 direction, const void *ends, const int version)
{
	return version == 6 ? tracked_ends6_differ(entry, direction, ends)
			    : tracked_ends_differ(entry, direction, ends);
}

INLINE u32 tracked_protocol(u64 entry)
{
	return KLOAD(u8, KADDR(struct nf_conntrack_tuple, tracked_tuple(entry, 0), dst.protonum));
}

/* What becomes of packets of one direction (nf_nat_packet()): TNA_ANOTHER_*. */
INLINE u32 tracked_steps(u64 entry, u32 direction)
{
	u32 status = KLOAD(u32, KADDR(struct nf_conn, entry, status));
	u32 another_source = direction & 1 ? CONNECTION_DST_NAT : CONNECTION_SRC_NAT;
	u32 another_destination = direction & 1 ? CONNECTION_SRC_NAT : CONNECTION_DST_NAT;

	return (status & another_source ? TNA_ANOTHER_SOURCE : 0) |
	       (status & another_destination ? TNA_ANOTHER_DESTINATION : 0);
}

/* The ends that they leave with: those by which the other direction comes in, the other way round. */
INLINE void tracked_translation(u64 entry, u32 direction, struct tna_translation *to, const int version)
{
	u64 tuple = tracked_tuple(entry, !(direction & 1));
	u64 source = KADDR(struct nf_conntrack_tuple, tuple, dst.u3.all);
	u64 destination = KADDR(struct nf_conntrack_tuple, tuple, src.u3.all);

	to->source_port = KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, dst.u.all));
	to->destination_port = KLOAD(u16, KADDR(struct nf_conntrack_tuple, tuple, src.u.all));
	to->source[0] = version == 6 ? KLOAD(u64, source) : KLOAD(u32, source);
	to->destination[0] = version == 6 ? KLOAD(u64, destination) : KLOAD(u32, destination);
	if (version == 6) {
		to->source[1] = KLOAD(u64, source + 8);
		to->destination[1] = KLOAD(u64, destination + 8);
	}
}

/* A packet does not leave as from where it came from. */
INLINE u64 source_differs(const struct tna_translation *to, const void *came, const int version)
{
	const struct tna_ends *ends = came;
	const struct tna_ends6 *ends6 = came;
	u64 word = 0;

	COLLECT(word, to->source[0] ^ (version == 6 ? ends6->source[0] : ends->source));
	if (version == 6)
		COLLECT(word, to->source[1] ^ ends6->source[1]);
	COLLECT(word, to->source_port ^ (version == 6 ? ends6->source_port : ends->source_port));
	return word;
}

INLINE u64 destination_differs(const struct tna_translation *to, const void *came, const int version)
{
	const struct tna_ends *ends = came;
	const struct tna_ends6 *ends6 = came;
	u64 word = 0;

	COLLECT(word, to->destination[0] ^ (version == 6 ? ends6->destination[0] : ends->destination));
	if (version == 6)
		COLLECT(word, to->destination[1] ^ ends6->destination[1]);
	COLLECT(word,
		to->destination_port ^ (version == 6 ? ends6->destination_port : ends->destination_port));
	return word;
}

/* What a packet was routed to is not what it gets, or an end that is to stay is not as it came. */
INLINE u64 translation_differs(const struct tna_translation *to, u32 steps, const void *came,
			       const int version)
{
	u64 word = to->routed[0] ^ to->destination[0];

	if (version == 6)
		COLLECT(word, to->routed[1] ^ to->destination[1]);
	if (!(steps & TNA_ANOTHER_SOURCE))
		COLLECT(word, source_differs(to, came, version));
	if (!(steps & TNA_ANOTHER_DESTINATION))
		COLLECT(word, destination_differs(to, came, version));
	return word;
}

/* The entry is not one of this protocol with this direction, or not one of an established connection that is
 * as plain as can be. */
INLINE u64 tracked_unfit(u64 entry, u32 direction, u32 protocol, u64 net)
{
	u64 tuple = tracked_tuple(entry, direction), word = 0;

	COLLECT(word, KLOAD(u8, KADDR(struct nf_conntrack_tuple, tuple, dst.protonum)) ^ protocol);
	COLLECT(word, KLOAD(u8, KADDR(struct nf_conntrack_tuple, tuple, dst.dir)) ^ direction);
	COLLECT(word,
		(KLOAD(u32, KADDR(struct nf_conn, entry, status)) & (CONNECTION_MUST | CONNECTION_MUST_NOT)) ^
			CONNECTION_MUST);
	COLLECT(word, KLOAD(u64, KADDR(struct nf_conn, entry, ct_net)) ^ net);
	if (bpf_core_field_exists(struct nf_conn, zone))
		COLLECT(word, KLOAD(u16, KADDR(struct nf_conn, entry, zone.id)));
	COLLECT(word, tracked_extended(entry));
	return word | (tracked_left(entry) <= 0);
}

#endif
