/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_DEVICES_H
#define TNA_GUARD_DEVICES_H

/* What all modules ask two devices on a closer look. */

#include "guards/below.bpf.h"
#include "guards/capture.bpf.h"
#include "guards/egress.bpf.h"
#include "guards/netdev_hook.bpf.h"
#include "guards/qdisc.bpf.h"
#include "guards/tc.bpf.h"

/*
 * Of the device as which Linux receives a frame and the one that it leaves by: captures, filters that run
 * something where it leaves, queues that are not plain. What is to be seen without a closer look has been
 * seen; filters where it comes in are guards/tc.bpf.h. `socket`: the sender's, if queues are not to see it.
 */
APART u64 guard_devices(u64 net, u64 device, u64 egress_address, u64 socket)
{
	struct net_device *ingress = KOBJ(struct net_device, device);
	struct net_device *egress = KOBJ(struct net_device, egress_address);
	u64 word = guard_netdev_egress(egress) | guard_tc_entry_busy(guard_tc_egress(egress));

	if (guard_capture_possible(KOBJ(struct net, net)))
		word |= guard_capture_device(device, ingress) | guard_capture_device(egress_address, egress);
	if (guard_egress_qdisc(egress))
		word |= guard_egress_qdisc_list(egress_address, socket);
	return word | guard_way_out(egress_address, socket);
}

#endif
