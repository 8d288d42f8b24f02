// SPDX-License-Identifier: GPL-2.0
/*
 * Each guard of the fast path by itself, GUARD_REPEATS times in a straight line, to be run by hand on a
 * device; and the same line without one. Constants are those of a program that was not patched.
 */
#include "guards/bridge_netfilter.bpf.h"
#include "guards/capture.bpf.h"
#include "guards/egress.bpf.h"
#include "guards/generic_xdp.bpf.h"
#include "guards/namespace.bpf.h"
#include "guards/netdev_hook.bpf.h"
#include "guards/qdisc.bpf.h"
#include "guards/sender.bpf.h"
#include "guards/tc.bpf.h"
#include "packet/packet.bpf.h"

#include "guards_shared.h"

volatile struct tna_namespace remembered = {};

/* The barriers keep the compiler from reading once what it is to read each time. */
#define GUARD(name, test)                                                                                    \
	SEC("xdp") int name(struct xdp_md *ctx)                                                              \
	{                                                                                                    \
		u64 device = hook_ingress_device(hook_kernel_buffer(ctx)), word = 0;                         \
		u64 home = KLOAD(u64, KADDR(struct net_device, device, nd_net.net));                         \
                                                                                                             \
		_Pragma("clang loop unroll(full)") for (int i = 0; i < GUARD_REPEATS; i++)                   \
		{                                                                                            \
			asm volatile("" : "+r"(device), "+r"(home));                                         \
			struct net_device *dev = KOBJ(struct net_device, device);                            \
			struct net *net = KOBJ(struct net, home);                                            \
			u32 len = 64;                                                                        \
                                                                                                             \
			(void)dev, (void)net, (void)len;                                                     \
			COLLECT(word, test);                                                                 \
		}                                                                                            \
		return word == 1 ? XDP_ABORTED : XDP_PASS;                                                   \
	}

GUARD(nothing, 0)
GUARD(home_namespace, guard_namespace(dev, home))
GUARD(capture_anywhere, guard_capture_possible(net))
GUARD(capture_namespace, guard_capture_namespace(home, net))
GUARD(capture_device, guard_capture_device(device, dev))
GUARD(tc_ingress, guard_tc_ingress(dev))
GUARD(netdev_ingress, guard_netdev_ingress(dev))
GUARD(egress_hooks, guard_egress_hooks(dev))
GUARD(generic_xdp, guard_generic_xdp(device))
GUARD(egress_down, guard_egress_down(dev))
GUARD(egress_mtu, guard_egress_mtu(dev, len))
GUARD(egress_redirect, guard_egress_redirect(dev))
GUARD(egress_qdisc, guard_egress_qdisc(dev))
GUARD(bridge_hooks, guard_bridge_hooks(net, &remembered))
GUARD(br_netfilter, guard_br_netfilter(home))
GUARD(unfinished_checksum, guard_unfinished_checksum(device))
GUARD(hidden_tag, guard_hidden_tag(device))

char _license[] SEC("license") = "GPL";
