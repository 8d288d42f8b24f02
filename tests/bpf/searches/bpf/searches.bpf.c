// SPDX-License-Identifier: GPL-2.0
/* The fast path's searches, in objects that the test makes; run by BPF_PROG_TEST_RUN. */
#include "fdb/fdb.bpf.h"
#include "route/v4/fib.bpf.h"
#include "route/v6/fib.bpf.h"
#include "route/common/neighbour.bpf.h"

#include "searches.h"

struct searches_state state = {};

#define PLACE(number, type, field) state.places[number] = bpf_core_field_offset(type, field)

static __always_inline void tell_places(void)
{
	PLACE(FIB_TABLE_DATA, struct fib_table, tb_data);
	PLACE(FIB_NODE_KEY, struct key_vector, key);
	PLACE(FIB_NODE_POS, struct key_vector, pos);
	PLACE(FIB_NODE_BITS, struct key_vector, bits);
	PLACE(FIB_NODE_CHILDREN, struct key_vector, tnode);
	PLACE(FIB_ALIAS_LIST, struct fib_alias, fa_list);
	PLACE(FIB_ALIAS_SLEN, struct fib_alias, fa_slen);
	PLACE(RHASH_TABLE, struct rhashtable, tbl);
	PLACE(RHASH_SIZE, struct bucket_table, size);
	PLACE(RHASH_NEST, struct bucket_table, nest);
	PLACE(RHASH_FUTURE, struct bucket_table, future_tbl);
	PLACE(RHASH_BUCKETS, struct bucket_table, buckets);
	PLACE(DEVICE_INET, struct net_device, ip_ptr);
	PLACE(INET_PARAMETERS, struct in_device, arp_parms);
	PLACE(INET6_PARAMETERS, struct inet6_dev, nd_parms);
	PLACE(PARAMETERS_TABLE, struct neigh_parms, tbl);
	PLACE(NEIGHBOURS_HASH, struct neigh_table, nht);
	state.places[HASH_BUCKETS] = bpf_core_field_exists(struct neigh_hash_table, hash_heads)
					     ? bpf_core_field_offset(struct neigh_hash_table, hash_heads)
					     : bpf_core_field_offset(struct neigh_hash_table, hash_buckets);
	PLACE(HASH_SHIFT, struct neigh_hash_table, hash_shift);
	PLACE(NEIGHBOUR_DEVICE, struct neighbour, dev);
	PLACE(NEIGHBOUR_KEY, struct neighbour, primary_key);
	PLACE(FIB6_BIT, struct fib6_node, fn_bit);
	PLACE(FIB6_FLAGS, struct fib6_node, fn_flags);
	PLACE(FIB6_LEFT, struct fib6_node, left);
	PLACE(FIB6_PARENT, struct fib6_node, parent);
	PLACE(FIB6_LEAF, struct fib6_node, leaf);
	PLACE(FIB6_LENGTH, struct fib6_info, fib6_dst.plen);
}

SEC("xdp")
int ask(struct xdp_md *ctx)
{
	state.memory_address = (u64)state.memory;
	tell_places();
	switch (state.kind) {
	case KIND_FIB:
		state.answer = fib_find(state.where, state.key).answer;
		break;
	case KIND_RHASH: /* the key lies behind the node */
		state.answer = rhash_find(state.where, state.key, sizeof(state.key), 0, sizeof(u64)).answer;
		break;
	case KIND_NEIGHBOUR:
		state.answer = neighbour_find(state.where, state.key).answer;
		break;
	case KIND_NEIGHBOUR6: /* a device's settings lie where the device does */
		state.answer = neighbour6_find(state.where, state.where, state.key, state.key).answer;
		break;
	case KIND_FIB6:
		state.answer = fib6_find(state.where, state.key, state.key).answer;
		break;
	}
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
