/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BRIDGE_VLAN_H
#define TNA_BRIDGE_VLAN_H

/*
 * Bridges that filter VLANs: which VLAN a frame belongs to, whether a port takes part in it, and what
 * becomes of the tag. Linux: __allowed_ingress(), br_allowed_egress(), br_handle_vlan().
 *
 * The profile's constant VLAN is the EtherType of the bridge's own tags, in network order. Another tag
 * is payload: Linux pushes it back in and takes the frame as untagged.
 */

#include "kernel/rhashtable.bpf.h"
#include "packet/tag.bpf.h"
#include "base/tags.bpf.h"

#define VLAN_UNTAGGED_BIT 18 /* of vlan_settings(): BRIDGE_VLAN_INFO_UNTAGGED of the flags */
#define VLAN_BRENTRY_BIT 21  /* BRIDGE_VLAN_INFO_BRENTRY */

INLINE u64 vlan_pvid(struct net_bridge_port *port)
{
	struct net_bridge_vlan_group *group = KOBJ(struct net_bridge_vlan_group, KGET(u64, port, vlgrp));

	return KGET(u16, group, pvid);
}

APART u64 vlan_search(u64 port, u64 vid)
{
	u64 group = KLOAD(u64, KADDR(struct net_bridge_port, port, vlgrp));

	if (!group)
		return search_none().answer;
	return rhash_find(KADDR(struct net_bridge_vlan_group, group, vlan_hash), vid, sizeof(u16),
			  bpf_core_field_offset(struct net_bridge_vlan, vnode),
			  bpf_core_field_offset(struct net_bridge_vlan, vid))
		.answer;
}

/* A port's part in a VLAN: a struct net_bridge_vlan. */
INLINE struct search vlan_find(u64 port, u64 vid)
{
	return (struct search){vlan_search(port, vid)};
}

INLINE int vlan_settings_packed(void)
{
	return !VLAN_KNOWN || (bpf_core_field_offset(struct net_bridge_vlan, flags) ==
				       bpf_core_field_offset(struct net_bridge_vlan, vid) + 2 &&
			       bpf_core_field_offset(struct net_bridge_vlan, state) ==
				       bpf_core_field_offset(struct net_bridge_vlan, vid) + 6);
}

/* Id, flags (from bit 16) and state (from bit 48); they lie side by side where the constant says so. */
INLINE u64 vlan_settings(struct net_bridge_vlan *vlan)
{
	if (likely(CONSTANT(PACKED)))
		return KGET(u64, vlan, vid);
	return KGET(u16, vlan, vid) | (u64)KGET(u16, vlan, flags) << 16 | (u64)KGET(u8, vlan, state) << 48;
}

/*
 * 0 if the port takes part in the VLAN and forwards there. br_vlan_state_allowed() would let an ingress
 * port learn, too. The PVID's state is kept a second time in the port's group, always the same.
 */
INLINE u64 vlan_state(u64 settings, u64 vid)
{
	return (settings & (0xffULL << 48 | 0xffff)) ^ ((u64)BR_STATE_FORWARDING << 48 | vid);
}

/*
 * Proves in place that what used to be a port's part in a VLAN still is: RCU keeps the memory readable,
 * and __vlan_del() unlinks it (list_del_rcu() poisons the pointer) before the memory is given back.
 */
INLINE u64 vlan_gone(struct net_bridge_vlan *vlan, u64 port)
{
	u64 word = KGET(u64, vlan, port) ^ port;

	COLLECT(word, KGET(u64, vlan, vlist.prev) >> 56 ^ LIST_POINTER_TOP);
	return word;
}

/* Whether a tag lies beside the frame that is not of the bridge's own kind. Linux puts it into the frame
 * then, and who looks at protocols on the way out (a bond) sees another one. */
INLINE u64 vlan_foreign_beside(hook_context *ctx)
{
	u64 beside = HOOK_TAGS_BESIDE ? hook_hidden_tag(ctx) : 0;

	return beside ? (u16)beside ^ CONSTANT(VLAN) : 0;
}

/* 1 if frames of a VLAN leave a port with these settings without a tag. */
INLINE u64 vlan_untagged(u64 settings)
{
	return settings >> VLAN_UNTAGGED_BIT & 1;
}

#endif
