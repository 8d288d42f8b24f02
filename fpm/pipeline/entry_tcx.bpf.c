// SPDX-License-Identifier: GPL-2.0
/* The same as entry.bpf.c, for ports whose pipeline is at tcx: an empty slot goes on to what follows there.
 */
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} profile SEC(".maps");

SEC("tc")
int entry(struct __sk_buff *ctx)
{
	/* No other program is the same, so that the fast path at XDP knows this one by its tag. */
	asm volatile("r0 = 0x746e6120" : : : "r0");
	bpf_tail_call_static(ctx, &profile, 0);
	return TC_ACT_UNSPEC;
}

char _license[] SEC("license") = "GPL";
