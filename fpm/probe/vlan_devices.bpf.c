// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the VLAN devices on a device: Linux hands them the tagged frames that they are for, before the
 * bridge sees any. One that lives in another network namespace is nowhere listed in this one. Never
 * attached, run by BPF_PROG_TEST_RUN in the namespace in question, for kernels that are not read in place:
 * it asks bpf_probe_read_kernel(), which is too slow for frames, but there since long.
 */
#include <tna/fastpath.h>

#include "kernel/access.h"

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

/* include/linux/sched.h, include/linux/nsproxy.h */
struct nsproxy {
	struct net *net_ns;
};

struct task_struct {
	struct nsproxy *nsproxy;
};

#pragma clang attribute pop

struct tna_vlan_devices answer = {};

#define DEVICE_READ(T, address)                                                                              \
	({                                                                                                   \
		T value = 0;                                                                                 \
                                                                                                             \
		bpf_probe_read_kernel(&value, sizeof(value), (void *)(address));                             \
		value;                                                                                       \
	})
#define DEVICE_CHAIN_MAX                                                                                     \
	128 /* some 32,000 devices; one that is not found is taken for one with VLAN devices */
#include "kernel/device_index.bpf.h"

SEC("xdp")
int count_vlan_devices(struct xdp_md *ctx)
{
	u64 proxy = DEVICE_READ(u64, KADDR(struct task_struct, bpf_get_current_task(), nsproxy));
	u64 device = found_or_linux(
		find_device(DEVICE_READ(u64, KADDR(struct nsproxy, proxy, net_ns)), answer.ifindex));

	answer.found = device != 0;
	answer.count = 0;
	if (!device || !bpf_core_field_exists(struct net_device, vlan_info))
		return XDP_PASS;
	u64 info = DEVICE_READ(u64, KADDR(struct net_device, device, vlan_info));

	if (info)
		answer.count = DEVICE_READ(u32, KADDR(struct vlan_info, info, grp.nr_vlan_devs));
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
