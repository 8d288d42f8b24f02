/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
#ifndef TNA_MODULE_H
#define TNA_MODULE_H

/*
 * What custom fast-path modules are written with; tna-fpm(7) is the manual. A module is one source file with
 * a function for one hook or several:
 *
 *	#include <tna/module.h>
 *
 *	TNA_INGRESS(packet)
 *	{
 *		return packet->protocol == 17 ? TNA_DROP : TNA_CONTINUE;
 *	}
 *
 *	clang -g -O2 -target bpf -c no-udp.bpf.c && tnactl module insert no-udp.bpf.o
 *
 * It may have maps and global variables of its own. The kernel's verifier looks at it apart from all else
 * first, and then as a part of the pipeline; what does not fit in there stays apart, with a stack of its own.
 * Callbacks (bpf_loop(), timers) are not possible.
 */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <tna/decision.h>

/* A frame, and what was found in it. Numbers are in host order. */
struct tna_packet {
	struct xdp_md *ctx;
	__u32 length;
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

/*
 * `size` bytes of the frame, NULL where it has not that many. Call it again after the frame's size has been
 * changed. Constant sizes, please, and offsets below 16384.
 */
static __always_inline void *tna_at(const struct tna_packet *packet, __u32 offset, const __u32 size)
{
	__u8 *end = tna_bound(packet, offsetof(struct xdp_md, data_end));
	__u8 *at = tna_bound(packet, offsetof(struct xdp_md, data));

	if (__builtin_constant_p(offset)) {
		at += offset;
	} else {
		asm("" : "+r"(offset)); /* the verifier is to see the bound */
		at += offset & 0x3fff;
	}
	return at + size > end ? NULL : at;
}

/* How long the frame is by now. */
static __always_inline __u32 tna_length(const struct tna_packet *packet)
{
	__u64 length = (__u64)tna_bound(packet, offsetof(struct xdp_md, data_end));

	asm volatile("%0 -= %1" : "+r"(length) : "r"(tna_bound(packet, offsetof(struct xdp_md, data))));
	return length;
}

/* What follows is for the macros at the end. */

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} tna_next SEC(".maps");

/* apart, for programs of another kind */
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} tna_next_egress SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, TNA_HOOK_COUNT);
	__type(key, __u32);
	__type(value, struct tna_module_counters);
} tna_counters SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct tna_decision);
} tna_decision SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_DEVMAP);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_devmap_val);
} tna_ports SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} tna_slots SEC(".maps");

/* The section's name is libbpf's: it hands the number out, and nothing else uses it. */
const __u32 tna_version SEC("version") = TNA_MODULE_VERSION;
/* what this header adds to a module is under the GPL, and so are many helpers */
char tna_license[] SEC("license") = "GPL";

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

static __always_inline void tna_parse(struct tna_packet *packet)
{
	struct tna_bytes bytes = {tna_bound(packet, offsetof(struct xdp_md, data)),
				  tna_bound(packet, offsetof(struct xdp_md, data_end))};
	__u16 *type = tna_peek(bytes, 12, 2);

	packet->length = tna_length(packet);
	packet->ingress = packet->ctx->ingress_ifindex;
	packet->l3 = ETH_HLEN;
	if (!type)
		return;
	packet->ether_type = bpf_ntohs(*type);
	if (!tna_is_tag(packet->ether_type) || !(type = tna_peek(bytes, ETH_HLEN, 4)))
		return tna_parse_ip(packet, bytes, ETH_HLEN);
	packet->vlan_protocol = packet->ether_type;
	packet->vlan_tci = bpf_ntohs(type[0]);
	packet->ether_type = bpf_ntohs(type[1]);
	if (!tna_is_tag(packet->ether_type) || !(type = tna_peek(bytes, ETH_HLEN + 4, 4)))
		return tna_parse_ip(packet, bytes, ETH_HLEN + 4);
	packet->ether_type = bpf_ntohs(type[1]);
	tna_parse_ip(packet, bytes, ETH_HLEN + 8);
}

/* What has been decided, at the hooks behind the bridge's decision and routing's; else NULL. */
static __always_inline const struct tna_decision *tna_decided(const struct tna_packet *packet)
{
	const __u32 zero = 0;

	if (packet->at != TNA_HOOK_BRIDGE && packet->at != TNA_HOOK_ROUTE)
		return NULL;
	return bpf_map_lookup_elem(&tna_decision, &zero);
}

/* Where the frame is to leave, an ifindex; 0: that is not known yet, or it is left to Linux. */
static __always_inline __u32 tna_egress(const struct tna_packet *packet)
{
	const struct tna_decision *decided;

	if (packet->at == TNA_HOOK_EGRESS)
		return packet->ctx->egress_ifindex;
	decided = tna_decided(packet);
	return decided && decided->forward ? decided->egress : 0;
}

/* Out of another port that tnad manages; to Linux where it is none. */
static __always_inline enum tna_verdict tna_to_port(struct tna_packet *packet, __u32 ifindex)
{
	__u32 *slot = bpf_map_lookup_elem(&tna_slots, &ifindex);

	if (!slot || bpf_redirect_map(&tna_ports, *slot, XDP_PASS) != XDP_REDIRECT)
		return TNA_TO_LINUX;
	packet->target = true;
	return TNA_TO_PORT;
}

/* To the AF_XDP socket at a place of an XSKMAP; where there is none, what is given instead. */
static __always_inline enum tna_verdict tna_to_socket(struct tna_packet *packet, void *xskmap, __u32 place,
						      enum tna_verdict otherwise)
{
	if (bpf_redirect_map(xskmap, place, XDP_PASS) != XDP_REDIRECT)
		return otherwise;
	packet->target = true;
	return TNA_TO_SOCKET;
}

/* What becomes of the frame: counted, and done. */
static __always_inline int tna_obey(struct tna_packet *packet, const __u32 hook, __u32 verdict)
{
	const __u32 place = hook; /* the hook itself is to stay known to clang */
	struct tna_module_counters *counters = bpf_map_lookup_elem(&tna_counters, &place);
	bool fault = verdict >= TNA_VERDICT_COUNT || (verdict > TNA_DROP && !packet->target) ||
		     (hook == TNA_HOOK_EGRESS && verdict != TNA_CONTINUE && verdict != TNA_DROP);

	/* what leaves has been measured already */
	if (hook == TNA_HOOK_EGRESS && tna_length(packet) > packet->length)
		fault = true;
	if (counters && fault)
		counters->faults++;
	else if (counters)
		counters->verdicts[verdict]++;
	if (fault)
		return hook == TNA_HOOK_EGRESS ? XDP_DROP : XDP_PASS;
	if (verdict == TNA_DROP)
		return XDP_DROP;
	if (verdict == TNA_TO_LINUX)
		return XDP_PASS;
	if (verdict != TNA_CONTINUE)
		return XDP_REDIRECT;
	if (hook == TNA_HOOK_EGRESS)
		bpf_tail_call_static(packet->ctx, &tna_next_egress, 0);
	else
		tna_go_on(packet->ctx, &tna_next, hook);
	return XDP_PASS; /* at the end; at egress, that sends the frame */
}

#define TNA_FUNCTION(hook, number, section, packet)                                                          \
	static __always_inline enum tna_verdict tna_##hook##_function(struct tna_packet *packet);            \
	SEC(section) int tna_on_##hook(struct xdp_md *ctx)                                                   \
	{                                                                                                    \
		struct tna_packet parsed = {.ctx = ctx, .at = number};                                       \
                                                                                                             \
		tna_parse(&parsed);                                                                          \
		return tna_obey(&parsed, number, tna_##hook##_function(&parsed));                            \
	}                                                                                                    \
	static __always_inline enum tna_verdict tna_##hook##_function(struct tna_packet *packet              \
								      __attribute__((unused)))

/* The beginning of a function for a hook; the name is that of its parameter, a struct tna_packet *. */
#define TNA_INGRESS(packet) TNA_FUNCTION(ingress, TNA_HOOK_INGRESS, "xdp", packet)
#define TNA_BRIDGE(packet) TNA_FUNCTION(bridge, TNA_HOOK_BRIDGE, "xdp", packet)
#define TNA_ROUTE(packet) TNA_FUNCTION(route, TNA_HOOK_ROUTE, "xdp", packet)
#define TNA_EGRESS(packet) TNA_FUNCTION(egress, TNA_HOOK_EGRESS, "xdp/devmap", packet)

#endif
