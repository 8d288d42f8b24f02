/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What br_bpf.c uses of the bridge, for a module outside of the kernel's tree. The structures are those of
 * the one kernel it is built for (layout.h); the functions are the bridge's own ones, which it does not
 * export.
 */
#ifndef BR_PRIVATE_H
#define BR_PRIVATE_H

#include <linux/if_bridge.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>

struct net_bridge;
struct net_bridge_port;
struct net_bridge_vlan_group;

#include "layout.h"

#ifndef __bpf_kfunc /* before 6.3 */
#define __bpf_kfunc __used noinline
#endif
#ifndef __bpf_kfunc_start_defs /* before 6.7 */
#define __bpf_kfunc_start_defs()                                                                             \
	__diag_push();                                                                                       \
	__diag_ignore_all("-Wmissing-prototypes", "kfuncs are found through BTF")
#define __bpf_kfunc_end_defs() __diag_pop()
#endif
#ifndef BTF_KFUNCS_START /* before 6.9 */
#define BTF_KFUNCS_START BTF_SET8_START
#define BTF_KFUNCS_END BTF_SET8_END
#endif

int br_bpf_init(void);

/* Exported by the bridge. The checksum of its type covers the ports and what they lead to. */
void br_forward(const struct net_bridge_port *to, struct sk_buff *skb, bool local_rcv, bool local_orig);

static inline bool br_opt_get(const struct net_bridge *br, int option)
{
	return test_bit(option, &br->options);
}

static inline unsigned long hold_time(const struct net_bridge *br)
{
	return br->topology_change ? br->forward_delay : br->ageing_time;
}

static inline struct net_bridge_port *br_port_get_check_rcu(const struct net_device *dev)
{
	return netif_is_bridge_port(dev) ? rcu_dereference(dev->rx_handler_data) : NULL;
}

static inline struct net_bridge_vlan_group *nbp_vlan_group_rcu(const struct net_bridge_port *p)
{
	return rcu_dereference(p->vlgrp);
}

static inline bool br_mst_is_enabled(const struct net_bridge_port *p)
{
	return br_opt_get(p->br, BROPT_MST_ENABLED) && rcu_access_pointer(p->vlgrp);
}

static inline u16 br_get_pvid(const struct net_bridge_vlan_group *vg)
{
	if (!vg)
		return 0;

	smp_rmb(); /* pairs with the bridge's own in __vlan_add_pvid() */
	return vg->pvid;
}

static inline u8 br_vlan_get_state(const struct net_bridge_vlan *v)
{
	return READ_ONCE(v->state);
}

static inline bool br_vlan_state_allowed(u8 state, bool learn_allow)
{
	return state == BR_STATE_FORWARDING || (learn_allow && state == BR_STATE_LEARNING);
}

static inline bool br_vlan_should_use(const struct net_bridge_vlan *v)
{
	return !(v->flags & BRIDGE_VLAN_INFO_MASTER) || v->flags & BRIDGE_VLAN_INFO_BRENTRY;
}

/* The tables know themselves how they are hashed and compared. One that is not as expected finds nothing,
 * and then the frame is the bridge's.
 */
static inline void *br_private_lookup(struct rhashtable *table, const void *key, size_t length,
				      size_t key_offset, size_t head_offset)
{
	if (table->p.key_len != length || table->p.key_offset != key_offset ||
	    table->p.head_offset != head_offset)
		return NULL;
	return rhashtable_lookup(table, key, table->p);
}

static inline struct net_bridge_fdb_entry *br_fdb_find_rcu(struct net_bridge *br, const u8 *addr, u16 vid)
{
	struct net_bridge_fdb_key key = {};

	memcpy(key.addr, addr, sizeof(key.addr));
	key.vlan_id = vid;
	return br_private_lookup(&br->fdb_hash_tbl, &key, sizeof(key),
				 offsetof(struct net_bridge_fdb_entry, key),
				 offsetof(struct net_bridge_fdb_entry, rhnode));
}

static inline struct net_bridge_vlan *br_vlan_find(struct net_bridge_vlan_group *vg, u16 vid)
{
	if (!vg)
		return NULL;

	return br_private_lookup(&vg->vlan_hash, &vid, sizeof(vid), offsetof(struct net_bridge_vlan, vid),
				 offsetof(struct net_bridge_vlan, vnode));
}

#endif
