/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_FLOWTABLE_FIND_H
#define TNA_FLOWTABLE_FIND_H

/*
 * The flowtable of a port, by what netfilter calls at its ingress, and a packet's flow in it.
 *
 * The kernel's own lookup (bpf_xdp_flow_lookup()) sets the flow's time anew, as Linux does for packets that
 * it forwards, and not for those that it only finds: too large ones, those whose route has changed. So the
 * flow is searched for here first, and the kernel is asked last of all (flow_confirm()): it must name the
 * same one.
 */

#include "flowtable/way.bpf.h"
#include "kernel/rhashtable.bpf.h"

/* What flows are found by: struct flow_offload_tuple up to __hash, 50 bytes, and two of the last word that
 * are no part of it. */
#define FLOW_KEY_WORDS 13
#define FLOW_KEY_BYTES 50

struct flow_key {
	union {
		u32 words[FLOW_KEY_WORDS + 1];
		u64 pairs[6];
	};
};

/* jhash() of such a key (include/linux/jhash.h); Bob Jenkins' hash, in the public domain. */
INLINE u32 flow_hash_key(const struct flow_key *key, u32 seed)
{
	u32 a = 0xdeadbeef + FLOW_KEY_BYTES + seed, b = a, c = a;

	EACH (turn, FLOW_KEY_WORDS / 3) {
		a += key->words[3 * turn];
		b += key->words[3 * turn + 1];
		c += key->words[3 * turn + 2];
		a = (a - c) ^ rotate(c, 4);
		c += b;
		b = (b - a) ^ rotate(a, 6);
		a += c;
		c = (c - b) ^ rotate(b, 8);
		b += a;
		a = (a - c) ^ rotate(c, 16);
		c += b;
		b = (b - a) ^ rotate(a, 19);
		a += c;
		c = (c - b) ^ rotate(b, 4);
		b += a;
	}
	return rhash_mix(a + key->words[FLOW_KEY_WORDS - 1], b, c);
}

/* False: the frame is not as long as it was. */
INLINE int flow_key_of(hook_context *ctx, const struct flow_way *way, struct flow_key *key)
{
	u8 *data = hook_data(ctx), *end = hook_data_end(ctx);

	EACH (index, FLOW_KEY_WORDS + 1)
		key->words[index] = 0;
	if (way->family == FLOW_INET) {
		if (data + FLOW_FRAME(FLOW_INET) + 4 > end)
			return 0;
		key->words[0] = *(u32 *)(data + ETH_HLEN + 12);
		key->words[4] = *(u32 *)(data + ETH_HLEN + 16);
		key->words[8] = *(u32 *)(data + FLOW_FRAME(FLOW_INET));
	} else {
		if (data + FLOW_FRAME(FLOW_INET6) + 4 > end)
			return 0;
		EACH (index, 8)
			key->words[index] = *(u32 *)(data + ETH_HLEN + 8 + 4 * index);
		key->words[8] = *(u32 *)(data + FLOW_FRAME(FLOW_INET6));
	}
	key->words[9] = hook_ingress_ifindex(ctx);
	key->words[10] = way->family | way->protocol
					       << 8; /* behind that, what is around the packet: nothing */
	return 1;
}

INLINE u64 flow_key_differs(u64 entry, const struct flow_key *key)
{
	u64 tuple = KADDR(struct flow_offload_tuple_rhash, entry, tuple), word = 0;

	EACH (index, 6)
		COLLECT(word, KLOAD(u64, tuple + 8 * index) ^ key->pairs[index]);
	COLLECT(word, KLOAD(u16, tuple + 48) ^ (u16)key->words[FLOW_KEY_WORDS - 1]);
	return word;
}

/* The entry in one table of what may be two while it is resized. A chain ends with its bucket's own address.
 */
INLINE struct search flow_find_in(u64 buckets, const struct flow_key *key)
{
	struct bucket_table *table = KOBJ(struct bucket_table, buckets);
	u32 place = flow_hash_key(key, KGET(u32, table, hash_rnd)) & (KGET(u32, table, size) - 1);
	u64 bucket = KADDR(struct bucket_table, buckets, buckets) + 8ULL * place;
	u64 node = rhash_first(bucket);
	struct search search;

	SEARCH (search, RHASH_CHAIN_MAX) {
		if (!node || node == (bucket | 1))
			CONCLUDE(search, search_none());
		if (node & 1)
			break;
		if (!flow_key_differs(node, key)) /* the node comes first in the entry */
			CONCLUDE(search, search_found(node));
		node = KLOAD(u64, node);
	}
	return search;
}

/* Flows that are in the table which is to take its place are Linux's for that moment. */
INLINE struct search flow_find(u64 flowtable, const struct flow_key *key)
{
	u64 buckets = KLOAD(u64, KADDR(struct nf_flowtable, flowtable, rhashtable.tbl));

	if (!buckets || KLOAD(u32, KADDR(struct bucket_table, buckets, nest)))
		return search_doubt();
	return flow_find_in(buckets, key);
}

/* The struct nf_flowtable * that all packets of a family pass at a device's ingress; 0 if something else is
 * called for them as well, or not it. */
INLINE u64 flowtable_at(struct net_device *device, u32 family)
{
	u64 list = KGET(u64, device, nf_hooks_ingress);
	u64 first = KADDR(struct nf_hook_entries, list, hooks);
	u64 function = KLOAD(u64, KADDR(struct nf_hook_entry, first, hook));
	u64 own = family == FLOW_INET ? CONSTANT(HOOK_FLOWTABLE4) : CONSTANT(HOOK_FLOWTABLE6);

	if (!list || !function || KLOAD(u16, list) != 1 || /* num_hook_entries */
	    (function != CONSTANT(HOOK_FLOWTABLE) && function != own))
		return 0;
	return KLOAD(u64, KADDR(struct nf_hook_entry, first, priv));
}

/* Fills in the flow. */
NOINLINE u32 flow_look_up(hook_context *ctx, struct flow_way *way)
{
	u64 flowtable = flowtable_at(KOBJ(struct net_device, way->device), way->family);
	struct flow_key key;

	BECAUSE(!flowtable, NETDEV_HOOK);
	/* counters, or a card that forwards by itself */
	BECAUSE(KLOAD(u32, KADDR(struct nf_flowtable, flowtable, flags)), FLOWTABLE_SPECIAL);
	BECAUSE(!flow_key_of(ctx, way, &key), SHORT);
	SOUGHT(way->entry, flow_find(flowtable, &key), FLOWTABLE_UNKNOWN);
	return REASON_NONE;
}

#endif
