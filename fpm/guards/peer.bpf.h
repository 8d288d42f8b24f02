/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_PEER_H
#define TNA_GUARD_PEER_H

/*
 * A generic XDP program at the other end of a veth. It passes frames by that a program has redirected
 * (netif_receive_generic_xdp()), and they are still marked so when they come there: Linux forgets that behind
 * tc at ingress only.
 */

#include "packet/hook.bpf.h"
#include "kernel/device.bpf.h"

#define KIND_VETH 0x68746576u /* as it lies in memory */

INLINE u64 guard_peer_generic_xdp(u64 egress)
{
	if (!HOOK_WITHIN_LINUX)
		return 0;
	u64 ops = KLOAD(u64, KADDR(struct net_device, egress, rtnl_link_ops));

	if (KLOAD(u32, KLOAD(u64, KADDR(struct rtnl_link_ops, ops, kind))) != KIND_VETH)
		return 0;
	if (!bpf_core_type_exists(struct veth_priv)) /* the module came after this program */
		return 1;
	u64 peer = KLOAD(u64, KADDR(struct veth_priv, device_private(egress), peer));

	return KLOAD(u64, KADDR(struct net_device, peer, xdp_prog));
}

#endif
