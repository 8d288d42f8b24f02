// SPDX-License-Identifier: GPL-2.0
/* The fast path's searches, in objects that the test makes; run by BPF_PROG_TEST_RUN. */
#include "connection/for_arrival.bpf.h"
#include "fdb/fdb.bpf.h"
#include "flowtable/find.bpf.h"
#include "guards/brnf.bpf.h"
#include "guards/capture.bpf.h"
#include "guards/qdisc.bpf.h"
#include "kernel/device_index.bpf.h"
#include "route/common/neighbour.bpf.h"
#include "route/common/policy.bpf.h"
#include "route/v4/fib.bpf.h"
#include "route/v6/fib.bpf.h"

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
	PLACE(NET_DEVICES, struct net, dev_index_head);
	PLACE(NET_GENERIC, struct net, gen);
	PLACE(GENERIC_LENGTH, struct net_generic, s.len);
	PLACE(DEVICE_INDEX, struct net_device, ifindex);
	PLACE(DEVICE_INDEX_LINK, struct net_device, index_hlist);
	PLACE(DEVICE_QDISC, struct net_device, qdisc);
	PLACE(DEVICE_QUEUES, struct net_device, _tx);
	PLACE(DEVICE_QUEUES_NUMBER, struct net_device, real_num_tx_queues);
	state.places[QUEUE_SIZE] = bpf_core_type_size(struct netdev_queue);
	PLACE(QDISC_KIND, struct Qdisc, ops);
	PLACE(QDISC_KIND_NAME, struct Qdisc_ops, id);
	PLACE(RULE_LIST, struct fib_rule, list);
	PLACE(RULE_NAME, struct fib_rule, iifname);
	PLACE(SETTINGS_ADDRESSES, struct in_device, ifa_list);
	PLACE(ADDRESS_LOCAL, struct in_ifaddr, ifa_local);
	PLACE(ADDRESS_NEXT, struct in_ifaddr, ifa_next);
	if (FLOWTABLE_KNOWN)
		PLACE(FLOWTABLE_FLOWS, struct nf_flowtable, rhashtable.tbl);
	if (bpf_core_field_exists(struct packet_sock, prot_hook))
		PLACE(SOCKET_HOOK, struct packet_sock, prot_hook);
}

/* One whose first word is the key. */
static __always_inline u64 flow_of_key(void)
{
	struct flow_key key = {};

	key.words[0] = state.key;
	return FLOWTABLE_KNOWN ? flow_find(state.where, &key).answer : SEARCH_DOUBT;
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
	case KIND_DEVICE:
		state.answer = find_device(state.where, state.key).answer;
		break;
	case KIND_TABLE: /* its number lies behind its link */
		state.answer = policy_table_search(state.where, state.key, 0, sizeof(u64));
		break;
	case KIND_NAMES:
		state.answer = policy_asks_names(state.where);
		break;
	case KIND_FLOW:
		state.answer = flow_of_key();
		break;
	case KIND_ARRIVAL:
		state.answer = for_arrival(state.where, state.key);
		break;
	case KIND_BRNF:
		state.answer = find_brnf(state.where).answer;
		break;
	case KIND_QUEUES:
		state.answer = guard_egress_qdisc_list(state.where, 0);
		break;
	case KIND_LISTENERS:
		state.answer = capture_in(state.where, 0);
		break;
	case KIND_SOCKETS:
		state.answer = capture_of_all_devices(state.where);
		break;
	}
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
