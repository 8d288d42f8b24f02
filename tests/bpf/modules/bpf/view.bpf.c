// SPDX-License-Identifier: GPL-2.0
/* A module that writes down what it is told about a frame. */
#include <tna/module.h>

#include "view.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct view);
} seen SEC(".maps");

TNA_INGRESS(packet)
{
	__u32 zero = 0;
	struct view *view = bpf_map_lookup_elem(&seen, &zero);

	if (!view)
		return TNA_CONTINUE;
	view->length = packet->length;
	view->ingress = packet->ingress;
	view->vlan_protocol = packet->vlan_protocol;
	view->vlan_tci = packet->vlan_tci;
	view->ether_type = packet->ether_type;
	view->l3 = packet->l3;
	view->l4 = packet->l4;
	view->ip_version = packet->ip_version;
	view->protocol = packet->protocol;
	return TNA_DROP;
}
