/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_MODULE_PACKET_H
#define TNA_MODULE_PACKET_H

/* A frame as custom modules see it, at XDP and at tcx; a part of tna/module.h. */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

/* A frame, and what was found in it. Numbers are in host order. */
struct tna_packet {
	union {
		struct xdp_md *ctx;
		struct __sk_buff *skb; /* at tcx */
	};
	__u64 tcx;    /* see tna_at_tcx(); so large that the verifier knows it in functions that are called */
	__u32 length; /* with the tag beside it, and all that is several frames yet (tna_frames()) */
	__u32 ingress;       /* ifindex */
	__u32 at;            /* TNA_HOOK_* */
	__u16 vlan_protocol; /* of the outermost tag; 0: there is none */
	__u16 vlan_tci;
	__u16 ether_type; /* behind up to two tags */
	__u16 l3;         /* where that begins */
	__u16 l4;         /* where TCP, UDP, ... begins; 0: there is none, or not in this fragment */
	__u8 ip_version;  /* 4, 6; 0: not IP */
	__u8 protocol;    /* of IPv4, or the first header behind IPv6's */
	bool target;      /* tna_to_port() or tna_to_socket() has found one */
};

/* Whether the frame is a socket buffer: packet->skb, with the outermost tag beside its bytes. */
static __always_inline bool tna_at_tcx(const struct tna_packet *packet)
{
	return packet->tcx;
}

/*
 * Where the frame begins (xdp_md.data) or ends (data_end) by now. By hand, because clang takes both for
 * numbers of 32 bits; when it puts one aside, it is half of a pointer, which the verifier refuses.
 */
static __always_inline __u8 *tna_bound(const struct tna_packet *packet, const __u32 field)
{
	__u8 *bound;

	asm volatile("%0 = *(u32 *)(%1 + %2)" : "=r"(bound) : "r"(packet->ctx), "i"(field));
	return bound;
}

static __always_inline __u8 *tna_data(const struct tna_packet *packet)
{
	return tna_at_tcx(packet) ? tna_bound(packet, offsetof(struct __sk_buff, data))
				  : tna_bound(packet, offsetof(struct xdp_md, data));
}

static __always_inline __u8 *tna_data_end(const struct tna_packet *packet)
{
	return tna_at_tcx(packet) ? tna_bound(packet, offsetof(struct __sk_buff, data_end))
				  : tna_bound(packet, offsetof(struct xdp_md, data_end));
}

/*
 * `size` bytes of the frame, NULL where it has not that many. Call it again after the frame's size has been
 * changed. Constant sizes, please, and offsets below 16384. At tcx only the headers are sure to be here,
 * TCP's and UDP's included; tna_load() copies what lies behind.
 */
static __always_inline void *tna_at(const struct tna_packet *packet, __u32 offset, const __u32 size)
{
	__u8 *end = tna_data_end(packet);
	__u8 *at = tna_data(packet);

	if (__builtin_constant_p(offset)) {
		at += offset;
	} else {
		asm("" : "+r"(offset)); /* the verifier is to see the bound */
		at += offset & 0x3fff;
	}
	return at + size > end ? NULL : at;
}

/* Copies `size` bytes of the frame, wherever they lie; not 0 where it has not that many. */
static __always_inline long tna_load(const struct tna_packet *packet, __u32 offset, void *to, __u32 size)
{
	return tna_at_tcx(packet) ? bpf_skb_load_bytes(packet->skb, offset, to, size)
				  : bpf_xdp_load_bytes(packet->ctx, offset, to, size);
}

/* How many bytes of it tna_at() reaches. */
static __always_inline __u32 tna_here(const struct tna_packet *packet)
{
	__u64 bytes = (__u64)tna_data_end(packet);

	asm volatile("%0 -= %1" : "+r"(bytes) : "r"(tna_data(packet)));
	return bytes;
}

/* How long the frame is by now. */
static __always_inline __u32 tna_length(const struct tna_packet *packet)
{
	return tna_at_tcx(packet) ? packet->skb->len + (packet->skb->vlan_present ? 4 : 0) : tna_here(packet);
}

/* How long the headers are, TCP's or UDP's included; of others, no more than is known. */
static __always_inline __u32 tna_all_headers(const struct tna_packet *packet)
{
	__u8 *tcp = packet->l4 && packet->protocol == 6 ? tna_at(packet, packet->l4 + 12, 1) : NULL;

	return tcp ? packet->l4 + (*tcp >> 4) * 4 : packet->l4 ? packet->l4 + 8 : packet->l3;
}

/*
 * How many frames it will be on a wire: at tcx it may be several yet, with the same headers (GSO, GRO). Who
 * sends for a virtual machine says how long each is, and not how many; then Linux divides, too
 * (qdisc_pkt_len_init()).
 */
static __always_inline __u32 tna_frames(const struct tna_packet *packet)
{
	__u32 each = tna_at_tcx(packet) ? packet->skb->gso_size : 0, headers, length;

	if (!each)
		return 1;
	if (packet->skb->gso_segs)
		return packet->skb->gso_segs;
	headers = tna_all_headers(packet);
	length = packet->skb->len;
	return length > headers ? (length - headers + each - 1) / each : 1;
}

/* What follows is for tna/module.h. */

static __always_inline bool tna_is_tag(__u16 ether_type)
{
	/* clang would keep an || even where nobody wants to know */
	return ether_type == ETH_P_8021Q ? true : ether_type == ETH_P_8021AD;
}

/* The frame's bytes. What a module does not use of what is found there, clang leaves out, branches included.
 */
struct tna_bytes {
	__u8 *data;
	__u8 *end;
};

static __always_inline void *tna_peek(struct tna_bytes bytes, const __u32 offset, const __u32 size)
{
	return bytes.data + offset + size > bytes.end ? NULL : bytes.data + offset;
}

static __always_inline void tna_parse_ip(struct tna_packet *packet, struct tna_bytes bytes, const __u32 l3)
{
	__u8 *first = tna_peek(bytes, l3, 20);

	packet->l3 = l3;
	if (!first)
		return;
	if (packet->ether_type == ETH_P_IP) {
		packet->ip_version = 4;
		packet->protocol = first[9];
		if (!(*(__u16 *)(first + 6) & bpf_htons(0x1fff)))
			packet->l4 = l3 + (first[0] & 0xf) * 4;
	} else if (packet->ether_type == ETH_P_IPV6) {
		packet->ip_version = 6;
		packet->protocol = first[6];
		/* extension headers are the module's own business */
		if (packet->protocol != 0 && packet->protocol != 43 && packet->protocol != 44 &&
		    packet->protocol != 60)
			packet->l4 = l3 + 40;
	}
}

/* Behind the outermost tag there may be another one. */
static __always_inline void tna_parse_tagged(struct tna_packet *packet, struct tna_bytes bytes,
					     const __u32 at)
{
	__u16 *type;

	if (!tna_is_tag(packet->ether_type) || !(type = tna_peek(bytes, at, 4)))
		return tna_parse_ip(packet, bytes, at);
	packet->ether_type = bpf_ntohs(type[1]);
	tna_parse_ip(packet, bytes, at + 4);
}

static __always_inline void tna_parse(struct tna_packet *packet)
{
	struct tna_bytes bytes = {tna_data(packet), tna_data_end(packet)};
	__u16 *type = tna_peek(bytes, 12, 2);

	packet->length = tna_length(packet);
	packet->ingress = tna_at_tcx(packet) ? packet->skb->ifindex : packet->ctx->ingress_ifindex;
	packet->l3 = ETH_HLEN;
	if (!type)
		return;
	packet->ether_type = bpf_ntohs(*type);
	if (tna_at_tcx(packet) && packet->skb->vlan_present) {
		packet->vlan_protocol = bpf_ntohs(packet->skb->vlan_proto);
		packet->vlan_tci = packet->skb->vlan_tci;
		return tna_parse_tagged(packet, bytes, ETH_HLEN);
	}
	if (!tna_is_tag(packet->ether_type) || !(type = tna_peek(bytes, ETH_HLEN, 4)))
		return tna_parse_ip(packet, bytes, ETH_HLEN);
	packet->vlan_protocol = packet->ether_type;
	packet->vlan_tci = bpf_ntohs(type[0]);
	packet->ether_type = bpf_ntohs(type[1]);
	tna_parse_tagged(packet, bytes, ETH_HLEN + 4);
}

/* Where the headers end that are known by now. */
static __always_inline __u32 tna_headers(const struct tna_packet *packet)
{
	if (packet->l4)
		return packet->l4 + (packet->protocol == 6 ? 20 : 8);
	if (packet->ether_type == ETH_P_IP || packet->ether_type == ETH_P_IPV6)
		return packet->l3 + (packet->ether_type == ETH_P_IP ? 20 : 40);
	return packet->l3 + (tna_is_tag(packet->ether_type) ? 4 : 0);
}

/*
 * Parses; brings here first what lies elsewhere yet of the headers. No more than these: what was put together
 * of several frames has to stay as it lies, to be taken apart again. False: there is no memory for that.
 */
static __always_inline bool tna_see(struct tna_packet *packet)
{
	tna_parse(packet);
	for (int parts = 0; tna_at_tcx(packet) && parts < 3;
	     parts++) { /* a tag, a packet's header, what is in it */
		__u32 end = tna_headers(packet);

		if (end <= tna_here(packet) || end > packet->skb->len)
			break;
		if (bpf_skb_pull_data(packet->skb, end))
			return false;
		tna_parse(packet);
	}
	return true;
}

#endif
