/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_GUARD_PEER_H
#define TNA_GUARD_PEER_H

/* The other end of a veth. */

#include "packet/hook.bpf.h"
#include "kernel/device.bpf.h"

#define KIND_VETH 0x68746576u /* as it lies in memory */

INLINE u32 device_kind(u64 device)
{
	u64 ops = KLOAD(u64, KADDR(struct net_device, device, rtnl_link_ops));

	return KLOAD(u32, KLOAD(u64, KADDR(struct rtnl_link_ops, ops, kind)));
}

/* Whether packets' marks may be seen by whoever receives them behind a device: where the other end of a veth
 * is in the same namespace (skb_scrub_packet()). */
INLINE u64 device_keeps_marks(u64 device)
{
	if (device_kind(device) != KIND_VETH)
		return 0;
	if (!bpf_core_type_exists(struct veth_priv))
		return 1;
	u64 peer = KLOAD(u64, KADDR(struct veth_priv, device_private(device), peer));

	return KLOAD(u64, KADDR(struct net_device, peer, nd_net)) ==
	       KLOAD(u64, KADDR(struct net_device, device, nd_net));
}

/*
 * A generic XDP program there. It passes frames by that a program has redirected
 * (netif_receive_generic_xdp()), and they are still marked so when they come there: Linux forgets that behind
 * tc at ingress only.
 */
INLINE u64 guard_peer_generic_xdp(u64 egress)
{
	if (!HOOK_WITHIN_LINUX || device_kind(egress) != KIND_VETH)
		return 0;
	if (!bpf_core_type_exists(struct veth_priv)) /* the module came after this program */
		return 1;
	u64 peer = KLOAD(u64, KADDR(struct veth_priv, device_private(egress), peer));

	return KLOAD(u64, KADDR(struct net_device, peer, xdp_prog));
}

#endif
