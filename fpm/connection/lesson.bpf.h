/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_LESSON_H
#define TNA_CONNECTION_LESSON_H

/*
 * What was learnt, of each flow. A lesson is put into the table as a whole, and never changed there; but its
 * memory may become another one's while it is read: whoever has read one looks at the end whether it is the
 * one that was read at the beginning.
 */

#include <tna/connection.h>

#include "kernel/access.h"

/* Those that were not used for longest make room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct tna_ends);
	__type(value, struct tna_lesson);
} lessons SEC(".maps");

/* Of flows over IPv6. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1);
	__type(key, struct tna_ends6);
	__type(value, struct tna_lesson);
} lessons6 SEC(".maps");

/* Rules know devices by their names, numbers and groups, of which each may change while the others do not. */
INLINE u64 lesson_device_differs(u64 device, const volatile struct tna_rule_device *known)
{
	u64 name = KADDR(struct net_device, device, name), word = 0;

	COLLECT(word, KLOAD(u64, name) ^ known->name[0]);
	COLLECT(word, KLOAD(u64, name + 8) ^ known->name[1]);
	COLLECT(word, KLOAD(u32, KADDR(struct net_device, device, ifindex)) ^ known->ifindex);
	COLLECT(word, KLOAD(u32, KADDR(struct net_device, device, group)) ^ known->group);
	return word;
}

INLINE void lesson_device(u64 device, volatile struct tna_rule_device *known)
{
	u64 name = KADDR(struct net_device, device, name);

	known->name[0] = KLOAD(u64, name);
	known->name[1] = KLOAD(u64, name + 8);
	known->ifindex = KLOAD(u32, KADDR(struct net_device, device, ifindex));
	known->group = KLOAD(u32, KADDR(struct net_device, device, group));
}

/* Of a bridge's port, rules know the name. 0 stands for none. */
INLINE u64 lesson_port_differs(u64 port, const volatile u64 *known)
{
	u64 name = KADDR(struct net_device, port, name);
	u64 word = (port ? KLOAD(u64, name) : 0) ^ known[0];

	return word | ((port ? KLOAD(u64, name + 8) : 0) ^ known[1]);
}

INLINE void lesson_port(u64 port, volatile u64 *known)
{
	u64 name = KADDR(struct net_device, port, name);

	known[0] = port ? KLOAD(u64, name) : 0;
	known[1] = port ? KLOAD(u64, name + 8) : 0;
}

#endif
