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
 *	clang -g -O2 -target bpf -idirafter /usr/include/$(gcc -print-multiarch) -c no-udp.bpf.c
 *	tnactl module insert no-udp.bpf.o
 *
 * It may have maps and global variables of its own. The kernel's verifier looks at it apart from all else
 * first, and then as a part of the pipeline; what does not fit in there stays apart, with a stack of its own.
 * Callbacks (bpf_loop(), timers) are not possible.
 *
 * With TNA_MODULE_AT_TCX (#define it before, or -D) its functions are compiled twice: for ports at XDP, and
 * for those at tcx, where a frame is a socket buffer.
 */

#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <stdbool.h>
#include <stddef.h>

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>

#include <tna/decision.h>
#include <tna/module_packet.h>

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

#ifdef TNA_MODULE_AT_TCX
struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} tna_next_tcx SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct bpf_devmap_val);
} tna_ports_tcx SEC(".maps");
#endif

/* The section's name is libbpf's: it hands the number out, and nothing else uses it. */
const __u32 tna_version SEC("version") = TNA_MODULE_VERSION;
/* what this header adds to a module is under the GPL, and so are many helpers */
char tna_license[] SEC("license") = "GPL";

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

	if (!slot)
		return TNA_TO_LINUX;
#ifdef TNA_MODULE_AT_TCX
	if (packet->tcx) {
		struct bpf_devmap_val *port = bpf_map_lookup_elem(&tna_ports_tcx, slot);

		packet->target = port && port->ifindex && bpf_redirect(port->ifindex, 0) == TC_ACT_REDIRECT;
		return packet->target ? TNA_TO_PORT : TNA_TO_LINUX;
	}
#endif
	if (bpf_redirect_map(&tna_ports, *slot, XDP_PASS) != XDP_REDIRECT)
		return TNA_TO_LINUX;
	packet->target = true;
	return TNA_TO_PORT;
}

/* To the AF_XDP socket at a place of an XSKMAP; where there is none, what is given instead. At tcx there is
 * none. */
static __always_inline enum tna_verdict tna_to_socket(struct tna_packet *packet, void *xskmap, __u32 place,
						      enum tna_verdict otherwise)
{
	if (tna_at_tcx(packet) || bpf_redirect_map(xskmap, place, XDP_PASS) != XDP_REDIRECT)
		return otherwise;
	packet->target = true;
	return TNA_TO_SOCKET;
}

/* With the next module, or with what is behind the last one. Whoever has nothing behind it comes back. */
static __always_inline void tna_continue(struct tna_packet *packet, const __u32 hook)
{
#ifdef TNA_MODULE_AT_TCX
	if (packet->tcx)
		return tna_go_on(packet->skb, &tna_next_tcx, hook);
#endif
	if (hook == TNA_HOOK_EGRESS)
		bpf_tail_call_static(packet->ctx, &tna_next_egress, 0);
	else
		tna_go_on(packet->ctx, &tna_next, hook);
}

/* What becomes of the frame: counted, and done. */
static __always_inline int tna_obey(struct tna_packet *packet, const __u32 hook, __u32 verdict)
{
	const int to_linux = tna_at_tcx(packet) ? TC_ACT_UNSPEC : XDP_PASS;
	const int drop = tna_at_tcx(packet) ? TC_ACT_SHOT : XDP_DROP;
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
		return hook == TNA_HOOK_EGRESS ? drop : to_linux;
	if (verdict == TNA_DROP)
		return drop;
	if (verdict == TNA_TO_LINUX)
		return to_linux;
	if (verdict != TNA_CONTINUE)
		return tna_at_tcx(packet) ? TC_ACT_REDIRECT : XDP_REDIRECT;
	tna_continue(packet, hook);
	return to_linux; /* at the end; at egress, that sends the frame */
}

#ifdef TNA_MODULE_AT_TCX
#define TNA_TWIN(hook, number)                                                                               \
	SEC("tc") int tna_tcx_on_##hook(struct __sk_buff *skb)                                               \
	{                                                                                                    \
		struct tna_packet parsed = {.skb = skb, .tcx = true, .at = number};                          \
                                                                                                             \
		return tna_obey(&parsed, number,                                                             \
				tna_see(&parsed) ? tna_##hook##_function(&parsed) : TNA_VERDICT_COUNT);      \
	}
#else
#define TNA_TWIN(hook, number)
#endif

#define TNA_FUNCTION(hook, number, section, twin, packet)                                                    \
	static __always_inline enum tna_verdict tna_##hook##_function(struct tna_packet *packet);            \
	SEC(section) int tna_on_##hook(struct xdp_md *ctx)                                                   \
	{                                                                                                    \
		struct tna_packet parsed = {.ctx = ctx, .at = number};                                       \
                                                                                                             \
		tna_parse(&parsed);                                                                          \
		return tna_obey(&parsed, number, tna_##hook##_function(&parsed));                            \
	}                                                                                                    \
	twin static __always_inline enum tna_verdict tna_##hook##_function(struct tna_packet *packet         \
									   __attribute__((unused)))

/* The beginning of a function for a hook; the name is that of its parameter, a struct tna_packet *. That at
 * egress is for ports at XDP only. */
#define TNA_INGRESS(packet)                                                                                  \
	TNA_FUNCTION(ingress, TNA_HOOK_INGRESS, "xdp", TNA_TWIN(ingress, TNA_HOOK_INGRESS), packet)
#define TNA_BRIDGE(packet)                                                                                   \
	TNA_FUNCTION(bridge, TNA_HOOK_BRIDGE, "xdp", TNA_TWIN(bridge, TNA_HOOK_BRIDGE), packet)
#define TNA_ROUTE(packet) TNA_FUNCTION(route, TNA_HOOK_ROUTE, "xdp", TNA_TWIN(route, TNA_HOOK_ROUTE), packet)
#define TNA_EGRESS(packet) TNA_FUNCTION(egress, TNA_HOOK_EGRESS, "xdp/devmap", , packet)

#endif
