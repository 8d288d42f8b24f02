// SPDX-License-Identifier: GPL-2.0
/* Asks the bridge, by the kfuncs of kernel-patches/, about a frame that the test describes. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <tna/br_fdb_lookup.h>

extern int bpf_xdp_br_fdb_lookup(struct xdp_md *xdp_ctx, struct bpf_br_fdb_lookup *params,
				 __u32 params__sz) __ksym;
extern int bpf_skb_br_fdb_lookup(struct __sk_buff *skb_ctx, struct bpf_br_fdb_lookup *params,
				 __u32 params__sz) __ksym;

struct bpf_br_fdb_lookup question = {};
int answer = 0;
int answer_to_short = 0;

SEC("xdp")
int ask_xdp(struct xdp_md *ctx)
{
	answer_to_short = bpf_xdp_br_fdb_lookup(ctx, &question, sizeof(question) - 4);
	answer = bpf_xdp_br_fdb_lookup(ctx, &question, sizeof(question));
	return XDP_PASS;
}

SEC("tc")
int ask_skb(struct __sk_buff *ctx)
{
	answer_to_short = bpf_skb_br_fdb_lookup(ctx, &question, sizeof(question) - 4);
	answer = bpf_skb_br_fdb_lookup(ctx, &question, sizeof(question));
	return 0;
}

/* The kernel runs a program for a device only if the device has one. */
SEC("xdp")
int pass(struct xdp_md *ctx)
{
	return XDP_PASS;
}

char LICENSE[] SEC("license") = "GPL";
