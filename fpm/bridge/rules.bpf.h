/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_BRIDGE_RULES_H
#define TNA_BRIDGE_RULES_H

/*
 * Bridges that have the rules of routed packets called for what they forward (br_netfilter): packets in the
 * middle of a flow that the rules let pass, as connection/permit.bpf.h has it. The rules see the bridge as
 * the device on both sides. Bridges that filter VLANs are Linux's then: whether rules are called for a frame
 * depends on its tag, which may be another one at each place.
 */

#include "connection/permit.bpf.h"
#include "guards/bridge_netfilter.bpf.h"
#include "guards/devices.bpf.h"
#include "guards/sender.bpf.h"

#define BRIDGE_RULES (CONSTANT(RULES) && CONSTANT(BR_NETFILTER) && !CONSTANT(VLAN))

/* Whether br_netfilter calls rules at all: for packets of which protocol, is asked later. */
INLINE u64 bridge_rules_called(void)
{
	return BRIDGE_RULES ? guard_br_netfilter(CONSTANT(BRNF)) : 0;
}

/*
 * What br_netfilter itself does with a packet, besides calling rules: one that is not as it should be is
 * dropped (br_validate_ipv4(), of IPv6 segment6_parse() asks), what is behind it is cut off, and what is
 * larger than the port's MTU is cut into fragments (br_nf_dev_queue_xmit()).
 */
INLINE u32 evaluate_bridged_length(hook_context *ctx, u32 frame_len, u32 total, u64 out_port)
{
	BECAUSE(frame_len != total + ETH_HLEN, FLOW_KIND);
	BECAUSE(!hook_is_several(ctx) && total > KLOAD(u32, KADDR(struct net_device, out_port, mtu)),
		EGRESS_MTU);
	return REASON_NONE;
}

NOINLINE u32 evaluate_bridged4(hook_context *ctx, u64 out_port)
{
	struct ipv4 ip;

	BECAUSE(!ipv4_parse(ctx, &ip, 0), SHORT);
	BECAUSE(!ipv4_start_plain(ip.start) || ip.checksum, FLOW_KIND);
	return evaluate_bridged_length(ctx, ip.frame_len, ip.total, out_port);
}

NOINLINE u32 evaluate_bridged6(hook_context *ctx, u64 out_port)
{
	struct ipv6 ip;

	BECAUSE(!ipv6_parse(ctx, &ip, 0), SHORT);
	return evaluate_bridged_length(ctx, ip.frame_len, ip.total, out_port);
}

/* What is called for the packet at the port that it leaves by, and sees what the rules have made of it
 * (connections' marks, say), or the socket that br_netfilter takes off (setup_pre_routing()): where Linux
 * itself sends it, there is to be nothing. */
INLINE u32 evaluate_behind_rules(hook_context *ctx, u64 out_port)
{
	struct net_device *egress = KOBJ(struct net_device, out_port);

	if (!HOOK_WITHIN_LINUX)
		return REASON_NONE;
	BECAUSE(guard_tc_entry_busy(guard_tc_egress(egress)), TC);
	BECAUSE(guard_egress_qdisc(egress) && guard_egress_qdisc_list(out_port, 0), EGRESS_QDISC);
	BECAUSE(guard_sender(hook_kernel_buffer(ctx), out_port), SENDER_SOCKET);
	return REASON_NONE;
}

/* What connection_permit() says, of the bridge as the device that it came by: that one again. */
APART u64 bridged_permit4(hook_context *ctx, u64 bridge, u64 in_port, u64 out_port)
{
	return permit4(ctx, (struct seen_by_rules){bridge, in_port, out_port, 1}, NULL);
}

APART u64 bridged_permit6(hook_context *ctx, u64 bridge, u64 in_port, u64 out_port)
{
	return permit6(ctx, (struct seen_by_rules){bridge, in_port, out_port, 1}, NULL);
}

/* Of a frame without a tag that a bridge would send from one of its ports to another one, if there were no
 * rules; last of all, as what is permitted is noted. */
INLINE u32 evaluate_bridged_rules(hook_context *ctx, u32 protocol, u64 bridge, u64 in_port, u64 out_port)
{
	u64 brnf = CONSTANT(BRNF), permitted;

	if (protocol == bpf_htons(ETH_P_IP)) {
		if (!KLOAD(u32, KADDR(struct brnf_net, brnf, call_iptables)))
			return REASON_NONE;
		UNLESS_BECAUSE(evaluate_bridged4(ctx, out_port));
	} else {
		BECAUSE(protocol != bpf_htons(ETH_P_IPV6), BR_NETFILTER);
		if (!KLOAD(u32, KADDR(struct brnf_net, brnf, call_ip6tables)))
			return REASON_NONE;
		UNLESS_BECAUSE(evaluate_bridged6(ctx, out_port));
	}
	UNLESS_BECAUSE(evaluate_behind_rules(ctx, out_port));
	permitted = protocol == bpf_htons(ETH_P_IP) ? bridged_permit4(ctx, bridge, in_port, out_port)
						    : bridged_permit6(ctx, bridge, in_port, out_port);
	if (permitted < REASON_NONE)
		return permitted;
	BECAUSE(permitted != bridge, FLOW_CHANGED);
	return REASON_NONE;
}

#endif
