/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BASE_TAGS_H
#define TNA_BASE_TAGS_H

/* In which profiles, on which kernels, frames with VLAN tags are routed. All of it is known when a profile is
 * loaded. */

#include "base/constant.bpf.h"

/* Without CONFIG_BRIDGE_VLAN_FILTERING, the kernel has none of this. */
#define VLAN_KNOWN                                                                                           \
	(bpf_core_field_exists(struct net_bridge_port, vlgrp) && bpf_core_type_exists(struct net_bridge_vlan))

/* Without CONFIG_VLAN_8021Q, the kernel has none of this. */
#define VLAN_DEVICES                                                                                         \
	(CONSTANT(VLAN_DEVICES) && bpf_core_field_exists(struct vlan_info, grp.vlan_devices_arrays) &&       \
	 bpf_core_type_exists(struct vlan_dev_priv))

/* Where there are bridges that filter VLANs, or VLAN devices on bridges. */
#define BRIDGE_VLANS (VLAN_DEVICES && CONSTANT(BRIDGE_VLANS) && VLAN_KNOWN)

/* Where packets that are routed may come in behind a tag: other bridges hand to the host those that have
 * none. */
#define TAGS (VLAN_DEVICES && (!CONSTANT(BRIDGE) || BRIDGE_VLANS))

/* VLAN devices on VLAN devices on ports. */
#define VLAN_STACKS (VLAN_DEVICES && CONSTANT(VLAN_STACKS))

/* How many tags packets may come in behind. */
#define TAGS_MOST (TAGS ? 1 + (VLAN_STACKS && !CONSTANT(BRIDGE)) : 0)

#endif
