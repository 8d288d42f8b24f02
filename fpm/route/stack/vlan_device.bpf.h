/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_STACK_VLAN_DEVICE_H
#define TNA_ROUTE_STACK_VLAN_DEVICE_H

/*
 * Packets that Linux routes to or from VLAN devices on ports: the frame comes in with the tag of one
 * (vlan_do_receive()), or leaves by one that gives it its tag (vlan_dev_hard_start_xmit()).
 */

#include "bridge/settings.bpf.h"
#include "guards/devices.bpf.h"
#include "guards/generic_xdp.bpf.h"
#include "guards/namespace.bpf.h"
#include "packet/tag.bpf.h"
#include "base/reason.bpf.h"
#include "base/tags.bpf.h"

#define VLAN_PARTS 8
#define VLANS_PER_PART 512
#define TAG_IDENTITY ((u32)bpf_htons(VLAN_ID) << 16 | 0xffff) /* a tag but for priority and DEI */
#define VLAN_REORDER_HDR 1u /* include/uapi/linux/if_vlan.h: the device's own frames have no tag */

INLINE int device_is_vlan(u64 device)
{
	return !!(BPF_CORE_READ_BITFIELD(KOBJ(struct net_device, device), priv_flags) & IFF_802_1Q_VLAN);
}

/* The tag of a VLAN device's frames, as it lies there: priority 0, which no map changes. */
INLINE u32 vlan_device_tag(u64 device)
{
	struct vlan_dev_priv *vlan = KOBJ(struct vlan_dev_priv, device_private(device));

	return KGET(u16, vlan, vlan_proto) | (u32)bpf_htons(KGET(u16, vlan, vlan_id)) << 16;
}

/* The device on a port to which Linux gives frames with a tag, 0 if there is none (vlan_find_dev()). */
INLINE u64 vlan_device_find(u64 port, u32 tag)
{
	u64 info = KLOAD(u64, KADDR(struct net_device, port, vlan_info));
	u64 groups = KADDR(struct vlan_info, info, grp.vlan_devices_arrays);
	u64 vid = bpf_ntohs(tag >> 16) & VLAN_ID, kind = (u16)tag == bpf_htons(ETH_P_8021AD);
	u64 group = KLOAD(u64, groups + 8 * (kind * VLAN_PARTS + vid / VLANS_PER_PART));

	return KLOAD(u64, group + 8 * (vid % VLANS_PER_PART));
}

/* As which device Linux receives a frame on one: that on top which the tags are for, or without a tag this
 * one. */
INLINE u64 tagged_arrival(u64 device, u64 tags)
{
	u64 arrival = TAGS && tags ? vlan_device_find(device, tags) : device;

	return TAGS_MOST > 1 && tags >> 32 ? vlan_device_find(arrival, tags >> 32) : arrival;
}

/* Whether the tag stays in the frames that the device gets, and is put into those that it is given. */
INLINE u64 vlan_device_keeps_tag(u64 device)
{
	struct vlan_dev_priv *vlan = KOBJ(struct vlan_dev_priv, device_private(device));

	return ~KGET(u16, vlan, flags) & VLAN_REORDER_HDR;
}

/* A frame's own priority becomes that of the buffer (vlan_do_receive()), by which queues sort. Nothing else
 * does so, and where Linux does not itself send there are only queues that do not. */
INLINE u64 vlan_device_says_priority(u64 device)
{
	struct vlan_dev_priv *vlan = KOBJ(struct vlan_dev_priv, device_private(device));

	return HOOK_WITHIN_LINUX ? KGET(u32, vlan, nr_ingress_mappings) : 0;
}

/*
 * What was found is, after all, not the device of a tag, or not one that takes its frames in: Linux drops
 * them, whatever their priority.
 */
INLINE u64 vlan_device_deaf(u64 device, u32 tag)
{
	u64 word = (vlan_device_tag(device) ^ tag) & TAG_IDENTITY;

	COLLECT(word, ~KGET(u32, KOBJ(struct net_device, device), flags) & IFF_UP);
	return word;
}

/* The proof that Linux receives a port's frames with this tag as a device, without the tag. */
INLINE u64 vlan_arrival(u64 device, u32 tag)
{
	u64 word = vlan_device_deaf(device, tag);

	COLLECT(word, vlan_device_keeps_tag(device) | vlan_device_says_priority(device));
	COLLECT(word, guard_namespace(KOBJ(struct net_device, device), CONSTANT(NET)));
	COLLECT(word, guard_generic_xdp(device));
	return word;
}

/* The same of a device that hands them on to another one, for a second tag. */
INLINE u64 vlan_between(u64 address, u32 tag, u64 *closer)
{
	struct net_device *device = KOBJ(struct net_device, address);
	u64 word = vlan_arrival(address, tag);

	COLLECT(word, KGET(u64, device, rx_handler));
	COLLECT(word, guard_netdev_ingress(device));
	COLLECT(*closer, guard_tc_ingress(device));
	return word;
}

/* The device under a VLAN device, or what else it is itself. */
INLINE u64 vlan_below(u64 device)
{
	struct vlan_dev_priv *vlan = KOBJ(struct vlan_dev_priv, device_private(device));

	return device_is_vlan(device) ? KGET(u64, vlan, real_dev) : device;
}

/* The proof that a VLAN device still sends by this device underneath, and as it did. */
INLINE u64 vlan_departure(u64 device, u64 egress)
{
	if (!VLAN_DEVICES)
		return 1;
	struct vlan_dev_priv *vlan = KOBJ(struct vlan_dev_priv, device_private(device));
	u64 word = KGET(u64, vlan, real_dev) ^ egress;

	COLLECT(word, vlan_device_keeps_tag(device));
	COLLECT(word, KGET(u32, vlan, nr_egress_mappings));
	COLLECT(word, guard_namespace(KOBJ(struct net_device, egress), CONSTANT(NET)));
	return word;
}

/* Whether Linux receives a frame with a tag as this device, and what the one underneath has to say before,
 * which may be the port that the frame came in by (`first`). */
INLINE u32 evaluate_vlan_arrival(u64 first, u64 port_address, u32 tag, u64 device)
{
	struct net_device *port = KOBJ(struct net_device, port_address);
	u64 net = CONSTANT(NET);

	BECAUSE(!device, NOT_IP);
	BECAUSE(guard_namespace(KOBJ(struct net_device, device), net), NAMESPACE);
	BECAUSE(vlan_device_deaf(device, tag) | vlan_device_keeps_tag(device) |
			vlan_device_says_priority(device),
		VLAN_SETTINGS);
	BECAUSE(guard_generic_xdp(device), GENERIC_XDP);
	BECAUSE(capture_of_device(port_address), CAPTURE);
	BECAUSE(guard_capture_specific(net, port_address, port), CAPTURE);
	BECAUSE(guard_tc_arrival_busy(port_address, first), TC);
	BECAUSE(guard_netdev_ingress(port), NETDEV_HOOK);
	return REASON_NONE;
}

/* The same with two tags, for a VLAN device on another one. */
INLINE u32 evaluate_tagged_arrival(u64 first, u64 port, u64 tags, u64 device)
{
	if (TAGS_MOST < 2 || !(tags >> 32))
		return evaluate_vlan_arrival(first, port, tags, device);
	u64 between = vlan_device_find(port, tags);

	UNLESS_BECAUSE(evaluate_vlan_arrival(first, port, tags, between));
	BECAUSE(KLOAD(u64, KADDR(struct net_device, between, rx_handler)), STACKED);
	return evaluate_vlan_arrival(first, between, tags >> 32, device);
}

/* By which device underneath a VLAN device sends, and with which tag. */
INLINE u32 evaluate_vlan_departure(u64 device, u32 *tag, u64 *egress)
{
	struct vlan_dev_priv *vlan = KOBJ(struct vlan_dev_priv, device_private(device));

	*egress = KGET(u64, vlan, real_dev);
	*tag = vlan_device_tag(device);
	BECAUSE(vlan_device_find(*egress, *tag) != device, UNPROVED);
	BECAUSE(vlan_device_keeps_tag(device) | KGET(u32, vlan, nr_egress_mappings), VLAN_SETTINGS);
	BECAUSE(guard_namespace(KOBJ(struct net_device, *egress), CONSTANT(NET)), NAMESPACE);
	return REASON_NONE;
}

#endif
