/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TNA_CONNECTION_THROUGH_BRIDGE_H
#define TNA_CONNECTION_THROUGH_BRIDGE_H

/*
 * Bridges have the rules of routed packets called for bridged ones (br_netfilter). These see the bridge as
 * the device by which a packet comes and leaves, and ports by their names (`physdev`); behind them is the
 * bridge, which changes nothing. At post-routing netfilter is told of no device that the packet came by.
 */

#include "connection/lesson.bpf.h"
#include "connection/rules.bpf.h"
#include "kernel/device_index.bpf.h"

/* By which devices rules have seen a packet pass. */
struct passed {
	u64 from;
	u64 to;
	u64 in_port; /* of a bridge that has called the rules; 0: none has */
	u64 out_port;
	u32 invalid; /* TNA_INVALID_* */
	u32 mark;    /* with which it leaves */
};

INLINE int is_bridged(struct net_device *device)
{
	return BPF_CORE_READ_BITFIELD(device, priv_flags) & IFF_BRIDGE_PORT;
}

/* What a bridge that has called the rules has noted of the packet, by address; 0: none has. */
INLINE u64 bridge_noted(struct sk_buff *skb)
{
	if (!bpf_core_field_exists(struct sk_buff, active_extensions) ||
	    !bpf_core_enum_value_exists(enum skb_ext_id, SKB_EXT_BRIDGE_NF))
		return 0;
	u32 id = bpf_core_enum_value(enum skb_ext_id, SKB_EXT_BRIDGE_NF);

	if (!(KGET(u8, skb, active_extensions) >> id & 1))
		return 0;
	u64 extensions = KGET(u64, skb, extensions);

	return extensions + 8ULL * KLOAD(u8, KADDR(struct skb_ext, extensions, offset) + id);
}

/* By which port it came. */
APART u64 bridge_noted_arrival(u64 noted, u64 net)
{
	if (bpf_core_field_exists(struct nf_bridge_info, physinif))
		return found_or_linux(
			find_device(net, KLOAD(u32, KADDR(struct nf_bridge_info, noted, physinif))));
	return bpf_core_field_exists(struct nf_bridge_info, physindev)
		       ? KLOAD(u64, KADDR(struct nf_bridge_info, noted, physindev))
		       : 0;
}

/* Completes what is known of the devices; 0: that cannot be. What came by a bridge that called the rules, and
 * is routed then, leaves by no port that is noted. */
INLINE int passed_devices(struct sk_buff *skb, u64 noted, u64 net, struct passed *passed)
{
	u64 routed = passed->from;

	if (!noted || routed) {
		if (!routed || is_bridged(KOBJ(struct net_device, passed->from)) ||
		    is_bridged(KOBJ(struct net_device, passed->to)))
			return 0;
		if (!noted)
			return 1;
	}
	if (!bpf_core_field_exists(struct nf_bridge_info, physoutdev))
		return 0;
	passed->in_port = bridge_noted_arrival(noted, net);
	passed->out_port = KLOAD(u64, KADDR(struct nf_bridge_info, noted, physoutdev));
	if (routed)
		return passed->in_port && !passed->out_port;
	passed->from = passed->to;
	return passed->in_port && passed->out_port;
}

enum way_found { WAY_ANOTHER, WAY_FOUND, WAYS_END };

/* Whether the judged way of this number is one by which packets come by a device and leave by another one.
 * Apart from the loop over them: otherwise the verifier follows each of them with all that came of those
 * before. */
APART u32 judged_way_found(u64 from, u64 to, u32 index, int version)
{
	const volatile struct tna_judged_way *way = &judged_rules(version)->ways[index % TNA_JUDGED_WAYS_MAX];

	if (!way->from.name[0])
		return WAYS_END;
	if (lesson_device_differs(from, &way->from))
		return WAY_ANOTHER;
	return !way->to.name[0] || (to && !lesson_device_differs(to, &way->to)) ? WAY_FOUND : WAY_ANOTHER;
}

/* What becomes of packets of TCP that connection tracking calls invalid and that come by a device and leave
 * by another one (0: nobody knows by which); 0: that is not known, or is being judged anew. */
APART u32 invalid_on_the_way(u64 from, u64 to, int version)
{
	const volatile struct tna_judged_rules *judged = judged_rules(version);
	u32 serial = judged->serial;

	if (!judged->known)
		return 0;
	EACH (index, TNA_JUDGED_WAYS_MAX) {
		u32 found = judged_way_found(from, to, index, version);

		if (found == WAYS_END)
			return 0;
		if (found == WAY_FOUND) {
			u32 becomes = judged->ways[index].becomes;

			return judged->serial == serial && judged->known ? becomes : 0;
		}
	}
	return 0;
}

/* The same, if it does not depend on the devices, as well. */
INLINE u32 invalid_becomes(const struct passed *passed, const int version)
{
	u32 known = judged_rules(version)->steady & INVALID_KNOWN;

	return known ? known : invalid_on_the_way(passed->from, passed->to, version);
}

#endif
