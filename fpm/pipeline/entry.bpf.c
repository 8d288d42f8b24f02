// SPDX-License-Identifier: GPL-2.0
/*
 * What is attached to a port: a jump to the port's profile. The index is constant, so that the kernel
 * makes it a direct jump; replacing the profile is one update of the slot and loses no frame. An empty
 * slot leaves the frame to Linux.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} profile SEC(".maps");

/* not "xdp.frags": whether the kernel knows that is found out when this is loaded */
SEC("xdp")
int entry(struct xdp_md *ctx)
{
	bpf_tail_call_static(ctx, &profile, 0);
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
