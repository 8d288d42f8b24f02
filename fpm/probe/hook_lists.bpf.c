// SPDX-License-Identifier: GPL-2.0
/*
 * Lists, for the controller, the functions that netfilter calls for packets that are forwarded: not every
 * kernel tells them over netlink (CONFIG_NETFILTER_NETLINK_HOOK), and none tells where the lists lie. Never
 * attached, run by BPF_PROG_TEST_RUN in the namespace in question.
 */
#include <tna/connection.h>

#include "connection/rules.bpf.h"
#include "packet/hook.bpf.h"

/* include/linux/netfilter.h */
enum nf_hook_ops_type {
	NF_HOOK_OP_UNDEFINED,
	NF_HOOK_OP_NF_TABLES,
	NF_HOOK_OP_BPF, /* since 6.4 */
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct nf_hook_ops {
	enum nf_hook_ops_type hook_ops_type : 8;
	int priority;
};
#pragma clang attribute pop

struct tna_hooks hooks = {};

INLINE u32 kind_of(u64 registered)
{
	struct nf_hook_ops *by = KOBJ(struct nf_hook_ops, registered);

	return BPF_CORE_READ_BITFIELD(by, hook_ops_type);
}

INLINE u32 program_of(u64 program)
{
	return KLOAD(u32, KADDR(struct bpf_prog_aux, KLOAD(u64, KADDR(struct bpf_prog, program, aux)), id));
}

/* One function; those who registered them stand behind all of them. */
INLINE void describe(struct tna_hook_function *one, u64 list, u32 number, u32 index)
{
	const u32 size = bpf_core_type_size(struct nf_hook_entry);
	u64 entries = KADDR(struct nf_hook_entries, list, hooks), entry = entries + size * index;
	u64 registered = KLOAD(u64, entries + size * number + 8 * index);

	one->function = KLOAD(u64, KADDR(struct nf_hook_entry, entry, hook));
	one->priority = KLOAD(u32, KADDR(struct nf_hook_ops, registered, priority));
	one->kind = kind_of(registered);
	one->program = one->kind == NF_HOOK_OP_BPF
			       ? program_of(KLOAD(u64, KADDR(struct nf_hook_entry, entry, priv)))
			       : 0;
}

APART u32 list_functions(u64 list, struct tna_hook_list *found)
{
	if (!found)
		return 0;
	found->list = list;
	found->number = KLOAD(u16, list); /* num_hook_entries; of no list, 0 */
	EACH (index, TNA_HOOK_FUNCTIONS_MAX) {
		if (index < found->number)
			describe(&found->functions[index], list, found->number, index);
	}
	return found->number;
}

SEC("xdp")
int list_hooks(hook_context *ctx)
{
	u64 device = hook_ingress_device(hook_kernel_buffer(ctx));
	u64 net = KLOAD(u64, KADDR(struct net_device, device, nd_net.net));

	EACH (place, TNA_RULE_HOOKS) {
		list_functions(rules_list(rules_lists(net, 4), place), &hooks.lists[0][place]);
		list_functions(rules_list(rules_lists(net, 6), place), &hooks.lists[1][place]);
		list_functions(rules_list(bridge_rules_lists(net), place), &hooks.lists[2][place]);
	}
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
