// SPDX-License-Identifier: GPL-2.0
/*
 * Reads, for the controller, what the fast path will read; never attached, run by BPF_PROG_TEST_RUN in
 * the namespace in question. The answers are compared with what netlink says before any port is
 * accelerated.
 */
#include <tna/fastpath.h>

#include "bridge/vlan.bpf.h"
#include "fdb/fdb.bpf.h"
#include "guards/brnf.bpf.h"
#include "kernel/device_index.bpf.h"
#include "route/v4/fib.bpf.h"

struct tna_probe probe = {};

INLINE void probe_entry(u64 bridge)
{
	u64 entry = found_or_linux(fdb_find(bridge, probe.key));

	probe.entry = entry;
	if (!entry)
		return;
	probe.entry_flags = KLOAD(u64, KADDR(struct net_bridge_fdb_entry, entry, flags));
	u64 port = KLOAD(u64, KADDR(struct net_bridge_fdb_entry, entry, dst));

	if (port)
		probe.entry_port =
			KLOAD(u32, KADDR(struct net_device,
					 KLOAD(u64, KADDR(struct net_bridge_port, port, dev)), ifindex));
}

INLINE void probe_vlan(u64 port, u64 bridge)
{
	u64 vlan = probe.vid ? found_or_linux(vlan_find(port, probe.vid)) : 0;
	u64 settings = vlan_settings(KOBJ(struct net_bridge_vlan, vlan));

	probe.pvid = vlan_pvid(KOBJ(struct net_bridge_port, port));
	probe.vlan_protocol = bpf_ntohs(KLOAD(u16, KADDR(struct net_bridge, bridge, vlan_proto)));
	if (!vlan || vlan_gone(KOBJ(struct net_bridge_vlan, vlan), port))
		return;
	probe.vlan_found = (u16)settings == probe.vid;
	probe.vlan_flags = (u16)(settings >> 16);
	probe.vlan_state = (u8)(settings >> 48);
}

INLINE void probe_device(u64 net)
{
	probe.device = found_or_linux(find_device(net, probe.ifindex));
	if (!probe.device)
		return;
	struct net_device *device = KOBJ(struct net_device, probe.device);

	if (!(BPF_CORE_READ_BITFIELD(device, priv_flags) & IFF_BRIDGE_PORT))
		return;
	u64 port = KGET(u64, device, rx_handler_data);
	u64 bridge = KLOAD(u64, KADDR(struct net_bridge_port, port, br));

	probe.port_flags = KLOAD(u64, KADDR(struct net_bridge_port, port, flags));
	probe.port_state = KLOAD(u8, KADDR(struct net_bridge_port, port, state));
	probe.bridge_options = KLOAD(u64, KADDR(struct net_bridge, bridge, options));
	if (probe.key)
		probe_entry(bridge);
	if (VLAN_KNOWN)
		probe_vlan(port, bridge);
}

/* Whether the fields that the fast path would like to read together lie together. */
INLINE int fields_packed(void)
{
	return KNEIGHBOURS(struct net_bridge_fdb_entry, fdb_node.pprev, flags) && vlan_settings_packed() &&
	       KNEIGHBOURS(struct net_device, nf_hooks_egress, tcx_egress) && fib_node_packed() &&
	       (!bpf_core_type_exists(struct brnf_net) ||
		bpf_core_field_offset(struct brnf_net, call_ip6tables) ==
			bpf_core_field_offset(struct brnf_net, call_iptables) + 4);
}

SEC("xdp")
int read_kernel(hook_context *ctx)
{
	u64 device = hook_ingress_device(hook_kernel_buffer(ctx));
	u64 net = KLOAD(u64, KADDR(struct net_device, device, nd_net.net));

	probe.net = net;
	probe.packed = fields_packed();
	probe.vlan_known = VLAN_KNOWN;
	probe.brnf = found_or_linux(find_brnf(net));
	if (probe.brnf) {
		probe.brnf_iptables = KLOAD(u32, KADDR(struct brnf_net, probe.brnf, call_iptables));
		probe.brnf_ip6tables = KLOAD(u32, KADDR(struct brnf_net, probe.brnf, call_ip6tables));
	}
	if (probe.ifindex)
		probe_device(net);
	return XDP_PASS;
}

char _license[] SEC("license") = "GPL";
