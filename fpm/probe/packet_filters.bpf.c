// SPDX-License-Identifier: GPL-2.0
/*
 * Lists, for the controller, the filters of packet sockets: netlink tells them where the kernel has
 * CONFIG_PACKET_DIAG, and then to the network's administrator only. Never attached, run by BPF_PROG_TEST_RUN
 * in the namespace in question.
 */
#include <tna/fastpath.h>

#include "kernel/loop.bpf.h"
#include "kernel/packet_socket.bpf.h"
#include "packet/hook.bpf.h"

#define SOCKETS_MAX 64

struct tna_filter_list filters = {};
static u64 sums[TNA_FILTERS_LISTED];

/* Whether one is listed that is the same, as far as its instructions' sum says. */
APART u32 is_listed(u32 length, u64 sum)
{
	EACH (at, TNA_FILTERS_LISTED)
		if (at < filters.number && filters.filter[at].length == length && sums[at] == sum)
			return 1;
	return 0;
}

/* One that is too long is no use, nor one of a socket that is given no Ethernet header. */
APART u32 list_filter(u64 socket)
{
	u32 number = filters.number;
	u64 filter = packet_filter_of(socket), code = packet_filter_code(filter);
	u32 length = packet_filter_length(filter);

	if (number >= TNA_FILTERS_LISTED || !filter || length > TNA_FILTER_LENGTH_MAX ||
	    !packet_socket_is_raw(socket))
		return 0;
	struct tna_filter *one = &filters.filter[number];
	u64 sum = 0;

	EACH (at, TNA_FILTER_LENGTH_MAX) {
		one->instructions[at] = at < length ? KLOAD(u64, code + 8 * at) : 0;
		sum = (sum ^ one->instructions[at]) * 0x9e3779b97f4a7c15;
	}
	if (is_listed(length, sum))
		return 0;
	sums[number] = sum;
	one->length = length;
	filters.number = number + 1;
	return 1;
}

SEC("xdp")
int list_filters(hook_context *ctx)
{
	u64 device = hook_ingress_device(hook_kernel_buffer(ctx));
	struct net *net = KOBJ(struct net, KLOAD(u64, KADDR(struct net_device, device, nd_net.net)));
	u64 node = KGET(u64, net, packet.sklist.first);
	struct search all;

	filters.number = 0;
	/* with more sockets than this, those behind are not spared */
	SEARCH (all, SOCKETS_MAX) {
		if (!node)
			CONCLUDE(all, search_none());
		list_filter(node - bpf_core_field_offset(struct sock___of_list, __sk_common.skc_node));
		node = KLOAD(u64, KADDR(struct hlist_node, node, next));
	}
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
