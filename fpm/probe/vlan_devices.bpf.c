// SPDX-License-Identifier: GPL-2.0
/*
 * Counts the VLAN devices on a device: Linux hands them the tagged frames that they are for, before the
 * bridge sees any. One that lives in another network namespace is nowhere listed in this one. Never
 * attached, run by BPF_PROG_TEST_RUN in the namespace in question, for kernels that are not read in place:
 * it asks bpf_probe_read_kernel(), which is too slow for frames, but there since long.
 */
#include <tna/fastpath.h>

#include "kernel/loop.bpf.h"

/* net/core/dev.c: NETDEV_HASHENTRIES */
#define DEVICE_HASH_ENTRIES 256
#define DEVICE_CHAIN_MAX                                                                                     \
	128 /* some 32,000 devices; one that is not found is taken for one with VLAN devices */

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

INLINE u64 read_address(u64 from)
{
	u64 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)from);
	return value;
}

INLINE u32 read_number(u64 from)
{
	u32 value = 0;

	bpf_probe_read_kernel(&value, sizeof(value), (void *)from);
	return value;
}

INLINE struct search find_device(u64 net, u32 ifindex)
{
	u64 node = read_address(read_address(KADDR(struct net, net, dev_index_head)) +
				8ULL * (ifindex & (DEVICE_HASH_ENTRIES - 1)));
	struct search search;

	SEARCH_SHORT (search, DEVICE_CHAIN_MAX) {
		if (!node)
			CONCLUDE(search, search_none());
		u64 device = node - bpf_core_field_offset(struct net_device, index_hlist);

		if (read_number(KADDR(struct net_device, device, ifindex)) == ifindex)
			CONCLUDE(search, search_found(device));
		node = read_address(node);
	}
	return search;
}

SEC("xdp")
int count_vlan_devices(struct xdp_md *ctx)
{
	u64 proxy = read_address(KADDR(struct task_struct, bpf_get_current_task(), nsproxy));
	u64 device = found_or_linux(
		find_device(read_address(KADDR(struct nsproxy, proxy, net_ns)), answer.ifindex));

	answer.found = device != 0;
	answer.count = 0;
	if (!device || !bpf_core_field_exists(struct net_device, vlan_info))
		return XDP_PASS;
	u64 info = read_address(KADDR(struct net_device, device, vlan_info));

	if (info)
		answer.count = read_number(KADDR(struct vlan_info, info, grp.nr_vlan_devs));
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
