/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_ROUTE_COMMON_PATH_H
#define TNA_ROUTE_COMMON_PATH_H

/* What a packet of either protocol meets on its way, besides the route itself: every test one by one, each
 * with its reason. */

#include "guards/members.bpf.h"
#include "guards/vrf.bpf.h"
#include "route/common/settings.bpf.h"
#include "route/stack/stack.bpf.h"

/* From uapi headers that may be older than the kernel, or that pull in too much. */
#define HOP_UNUSABLE (1u | 16u | 32u) /* RTNH_F_DEAD, RTNH_F_LINKDOWN, RTNH_F_UNRESOLVED */
#define METRIC_MTU 1                  /* RTAX_MTU, which counts from 1 */

/* What a packet meets on its way, by address. */
struct route_path {
	u64 port;
	u64 arrival;   /* the device as which Linux receives it */
	u64 departure; /* the device to which Linux hands it */
	u64 inet;
	u64 reverse_path;
	u64 alias;
	u64 info;
	u64 hop;
	u64 neighbour;
	u64 destination; /* MAC address */
	u32 ifindex;
	u32 gateway;
	u32 mtu;
};

/* The port, where it is no bridge's. */
INLINE u32 evaluate_routed_port(u64 port, u64 buffer)
{
	BECAUSE(guard_namespace(KOBJ(struct net_device, port), CONSTANT(NET)), NAMESPACE);
	BECAUSE(buffer && guard_hidden_tag(buffer), HIDDEN_TAG);
	BECAUSE(buffer && guard_unfinished_checksum(buffer), CHECKSUM);
	BECAUSE(buffer && guard_sender_marks(buffer), MARKED);
	return REASON_NONE;
}

/*
 * The device as which Linux receives the packet, beginning with the port; what is about a bridge has been
 * evaluated already. Apart from what comes next, for both need much of the stack.
 */
NOINLINE u32 evaluate_arrival(hook_context *ctx, const struct tna_route_stack *part)
{
	hook_buffer *buffer = hook_kernel_buffer(ctx);
	u64 net = CONSTANT(NET), port = hook_ingress_device(buffer);
	u64 tags = TAGS ? arriving_tags(part, packet_tags(ctx, TAGS_MOST)) : 0;
	u64 device = route_arrival(port, tags);

	if (hook_frame_unfit(ctx, buffer))
		return HOOK_UNFIT;
	BECAUSE(hook_frame_differs(ctx, buffer), MODULE_CHANGED);
	if (!CONSTANT(BRIDGE))
		UNLESS_BECAUSE(evaluate_routed_port(port, CONSTANT(VETH) ? hook_sender_buffer(buffer) : 0));
	if (!CONSTANT(BRIDGE) && device == port)
		BECAUSE(hook_for_another(ctx), OTHER_STATION);
	if (tags)
		UNLESS_BECAUSE(evaluate_tagged_arrival(port, route_arrival(port, 0), tags, device));
	struct net_device *arrival = KOBJ(struct net_device, device);

	BECAUSE(KGET(u64, arrival, rx_handler), STACKED);
	BECAUSE(guard_vrf(arrival), VRF);
	BECAUSE(capture_of_device(device), CAPTURE);
	BECAUSE(guard_capture_specific(net, device, arrival), CAPTURE);
	if (guard_capture_possible(KOBJ(struct net, net)))
		BECAUSE(guard_capture_members(port), CAPTURE);
	BECAUSE(capture_of_namespace(net), CAPTURE);
	BECAUSE(guard_tc_arrival_busy(device, port), TC);
	BECAUSE(guard_netdev_ingress(arrival), NETDEV_HOOK);
	return REASON_NONE;
}

INLINE u32 route_refused(long answer)
{
	if (answer == BPF_FIB_LKUP_RET_NO_NEIGH)
		return TNA_REASON_NEIGHBOUR;
	if (answer == BPF_FIB_LKUP_RET_FRAG_NEEDED) /* of a socket buffer, whose length the lookup sees */
		return TNA_REASON_ROUTE_MTU;
	if (answer == BPF_FIB_LKUP_RET_UNSUPP_LWT)
		return TNA_REASON_ROUTE_SPECIAL;
	return answer ? TNA_REASON_ROUTE_LOCAL : REASON_NONE;
}

/* The MAC address that the kernel's lookup has named. */
INLINE u64 lookup_address(const struct bpf_fib_lookup *lookup)
{
	return (u64)lookup->dmac[5] << 40 | (u64)lookup->dmac[4] << 32 | (u64)lookup->dmac[3] << 24 |
	       lookup->dmac[2] << 16 | lookup->dmac[1] << 8 | lookup->dmac[0];
}

/* The smaller one of a device's MTU and a route's metric, which 0 stands for none. */
INLINE u32 route_mtu(u32 device, u32 metric)
{
	return metric && metric < device ? metric : device;
}

INLINE u32 metric_mtu(u64 metrics)
{
	return KLOAD(u32, KADDR(struct dst_metrics, metrics, metrics[METRIC_MTU]));
}

#define IFF_LOOPBACK (1u << 3)

/* A hop that can be forwarded by; where there is none, the device's index is 0. */
INLINE u32 hop_ifindex(struct fib_nh_common *hop)
{
	struct net_device *device = KOBJ(struct net_device, KGET(u64, hop, nhc_dev));

	if (KGET(u8, hop, nhc_flags) & HOP_UNUSABLE || KGET(u64, hop, nhc_lwtstate) ||
	    KGET(u32, device, flags) & IFF_LOOPBACK)
		return 0;
	return KGET(u32, device, ifindex);
}

#endif
