// SPDX-License-Identifier: GPL-2.0
/*
 * Sees what drivers refuse. A redirected frame is handed to its driver when the program is long done; if the
 * driver refuses it (it has no transmit queue for this processor, for instance), the kernel frees the frame
 * and tells nobody but this tracepoint (bq_xmit_all(), xdp_devmap_xmit). From then on nothing is redirected
 * to the port: its slot says so, and whoever remembers it looks again. The controller tells about it
 * afterwards.
 */
#include <tna/reasons.h>

#include "base/slots.bpf.h"

/* The watched pipeline's, see watched/watched.bpf.h; another one has none. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_watched_port);
} watched_ports SEC(".maps");

/* By ifindex. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_refusal);
} refusals SEC(".maps");

/* The tracepoint tells of all network namespaces; this is the number of ours. */
const volatile __u32 own_namespace = 0;

INLINE void refusal_note(u32 ifindex, u32 frames, u32 error)
{
	struct tna_refusal first = {.frames = frames, .error = error, .cpu = bpf_get_smp_processor_id()};
	struct tna_refusal *known = bpf_map_lookup_elem(&refusals, &ifindex);

	if (known)
		__sync_fetch_and_add(&known->frames, frames);
	else
		bpf_map_update_elem(&refusals, &ifindex, &first, BPF_ANY);
}

INLINE void refusal_close(u32 ifindex)
{
	struct tna_port_slot *slot = bpf_map_lookup_elem(&port_slots, &ifindex);
	struct tna_watched_port *watched = bpf_map_lookup_elem(&watched_ports, &ifindex);

	if (slot && slot->shortest < TNA_EGRESS_REFUSED) {
		slot->shortest = TNA_EGRESS_REFUSED;
		__sync_fetch_and_add(&home.epoch, 1);
	}
	if (watched)
		watched->egress_reason = TNA_REASON_EGRESS_REFUSED;
}

/* Its arguments: the device that frames came in by, the one that they were to leave by, how many were sent,
 * how many were not, and the driver's error. A driver that has no room drops without an error, as Linux
 * does. */
SEC("raw_tp/xdp_devmap_xmit")
int refused(struct bpf_raw_tracepoint_args *ctx)
{
	struct net_device *device = (struct net_device *)ctx->args[1];
	s32 error = ctx->args[4];
	struct net *net;
	u32 number = 0, ifindex = 0;

	if (likely(error >= 0))
		return 0;
	bpf_core_read(&net, sizeof(net), &device->nd_net.net);
	bpf_core_read(&number, sizeof(number), &net->ns.inum);
	bpf_core_read(&ifindex, sizeof(ifindex), &device->ifindex);
	if (number != own_namespace)
		return 0;
	refusal_close(ifindex);
	refusal_note(ifindex, ctx->args[3], -error);
	return 0;
}

char _license[] SEC("license") = "GPL";
