// SPDX-License-Identifier: GPL-2.0
/*
 * Sees what rules of bridges (family bridge) let pass. Netfilter calls no BPF programs for bridges, so these
 * are called for all packets that are received (in front of everything that a bridge does) and sent (behind
 * it). In between a packet stays on its CPU and in its buffer: one that comes in by a port, and leaves by
 * another one of the same bridge, unchanged and without having been redirected, has passed all the rules.
 * Under rules that treat all packets in the middle of a flow alike, that is a lesson.
 */
#include "connection/bridge_lesson.bpf.h"
#include "guards/netdev_hook.bpf.h"
#include "guards/tc.bpf.h"
#include "kernel/device.bpf.h"
#include "packet/packet.bpf.h"

/* The pipeline's. */
const volatile __u64 own_net = 0;
const volatile __u64 own_brnf = 0; /* 0: there is no br_netfilter */

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct tna_bridge_passage);
} bridge_passage SEC(".maps");

INLINE struct tna_bridge_passage *passage_here(void)
{
	u32 first = 0;

	return bpf_map_lookup_elem(&bridge_passage, &first);
}

/* enum net_bridge_opts: it filters VLANs; its own word about br_netfilter, for IPv4 and IPv6 */
#define OPTION_FILTERS (1u << 0)
#define OPTIONS_CALL ((1u << 2) | (1u << 3))

/* The bridge that a device is a port of, by address; 0: it is none, or one that filters VLANs, for which
 * rules may ask. */
INLINE u64 bridge_of(u64 device)
{
	struct net_device *port = KOBJ(struct net_device, device);

	if (!(BPF_CORE_READ_BITFIELD(port, priv_flags) & IFF_BRIDGE_PORT))
		return 0;
	u64 bridge = KLOAD(u64, KADDR(struct net_bridge_port, KGET(u64, port, rx_handler_data), br));

	return KLOAD(u64, KADDR(struct net_bridge, bridge, options)) & OPTION_FILTERS ? 0 : bridge;
}

INLINE u32 rules_called(u64 bridge, u32 version)
{
	u32 options = KLOAD(u64, KADDR(struct net_bridge, bridge, options));

	return bridge_rules_call(own_brnf, version) | (options & OPTIONS_CALL ? TNA_CALLED_BY_OPTION : 0);
}

/* Of an IP header: without options, no fragment. */
INLINE int is_plain(u64 header, u32 version)
{
	return version == 6 || (KLOAD(u8, header) == 0x45 && !(KLOAD(u16, header + 6) & IPV4_FRAGMENT));
}

/* Of TCP, with ACK and perhaps PSH only. */
INLINE int in_the_middle(u64 segment, u32 protocol)
{
	if (protocol == PROTOCOL_TCP)
		return (KLOAD(u8, segment + 13) & ~TCP_PSH) == TCP_ACK;
	return protocol == PROTOCOL_UDP;
}

INLINE void packet_look4(u64 header, struct tna_bridged_packet *is)
{
	is->service = KLOAD(u8, header + 1);
	is->protocol = KLOAD(u8, header + 9);
	is->source[0] = KLOAD(u32, header + 12);
	is->destination[0] = KLOAD(u32, header + 16);
	is->source[1] = is->destination[1] = 0;
}

INLINE void packet_look6(u64 header, struct tna_bridged_packet *is)
{
	is->service = KLOAD(u32, header);
	is->protocol = KLOAD(u8, header + 6);
	EACH (word, 2) {
		is->source[word] = KLOAD(u64, header + 8 + 8 * word);
		is->destination[word] = KLOAD(u64, header + 24 + 8 * word);
	}
}

#define LOOKED 0x100u

/* Looks at an untagged packet in the middle of a flow; `before`: how much of the buffer is in front of the IP
 * header. Its time to live or hop limit, and LOOKED; 0: it is none, or its headers are not in one place, or
 * it is not as long as it says: then rules do not see what is in it (nft_set_pktinfo_ipv4_validate()). */
INLINE u32 packet_look(struct sk_buff *skb, u32 before, struct tna_bridged_packet *is)
{
	u64 ethernet = KGET(u64, skb, head) + KGET(u16, skb, mac_header), header = ethernet + ETH_HLEN;
	u32 type = KGET(u16, skb, protocol), version = type == bpf_htons(ETH_P_IP) ? 4 : 6;
	u32 length = version == 4 ? IPV4_HEADER_LEN : IPV6_HEADER_LEN;

	if (!bpf_core_field_exists(struct sk_buff, vlan_all) || KGET(u32, skb, vlan_all) ||
	    (type != bpf_htons(ETH_P_IP) && type != bpf_htons(ETH_P_IPV6)) ||
	    KLOAD(u16, ethernet + 2 * ETH_ALEN) != type || !is_plain(header, version))
		return 0;
	is->to = KLOAD(u64, ethernet) & MAC_MASK;
	is->from = KLOAD(u64, ethernet + ETH_ALEN) & MAC_MASK;
	is->version = version;
	if (version == 4)
		packet_look4(header, is);
	else
		packet_look6(header, is);
	is->source_port = KLOAD(u16, header + length);
	is->destination_port = KLOAD(u16, header + length + 2);
	u32 total =
		version == 4 ? bpf_ntohs(KLOAD(u16, header + 2)) : length + bpf_ntohs(KLOAD(u16, header + 4));
	u64 segment = header + length;

	length += is->protocol == PROTOCOL_TCP ? TCP_HEADER_LEN : UDP_HEADER_LEN;
	if (KGET(u32, skb, len) - KGET(u32, skb, data_len) < before + length || total < length ||
	    KGET(u32, skb, len) < before + total || !in_the_middle(segment, is->protocol))
		return 0;
	return LOOKED | (version == 4 ? KLOAD(u8, header + 8) : KLOAD(u8, header + 7));
}

INLINE u64 packets_differ(const struct tna_bridged_packet *one, const struct tna_bridged_packet *other)
{
	const u64 *these = (const void *)one, *those = (const void *)other;
	u64 word = 0;

	EACH (index, sizeof(*one) / 8)
		word |= these[index] ^ those[index];
	return word;
}

/* Whatever was received here before is not on its way any more. */
SEC("raw_tp/netif_receive_skb")
int bridge_set_out(struct bpf_raw_tracepoint_args *ctx)
{
	struct sk_buff *skb = KOBJ(struct sk_buff, ctx->args[0]);
	struct tna_bridge_passage *here = passage_here();
	u64 device = KGET(u64, skb, dev);
	struct net_device *port = KOBJ(struct net_device, device);

	if (!here)
		return 0;
	here->packet = 0;
	if (KGET(u64, port, nd_net.net) != own_net)
		return 0;
	u64 bridge = bridge_of(device);

	if (!bridge)
		return 0;
	here->generation = bridge_rules_generation(own_net);
	here->serial = judged_bridge_rules()->serial;
	here->hops = here->generation ? packet_look(skb, 0, &here->is) : 0;
	if (!here->hops)
		return 0;
	here->calls = rules_called(bridge, here->is.version);
	here->device = device;
	here->packet = ctx->args[0];
	return 0;
}

/* What is called behind the bridge may have made of a packet again what it was before others, in front of the
 * bridge, have made something else of it, which is what the rules saw. */
INLINE u64 may_be_made_again(struct net_device *out)
{
	return guard_tc_entry_busy(guard_tc_egress(out)) | guard_netdev_egress(out);
}

/* It has come as far as this from that port through its bridge, which tc, where it redirects packets, passes
 * by; and so does netfilter at ingress, but such a rule is one of the generation that is compared. What the
 * host sends itself came by no port. */
INLINE u64 has_passed_bridge(struct sk_buff *skb, const struct tna_bridge_passage *here)
{
	struct net_device *from = KOBJ(struct net_device, here->device);
	u64 out = KGET(u64, skb, dev), bridge = bridge_of(out);

	if (may_be_made_again(KOBJ(struct net_device, out)))
		return 0;
	if (!bpf_core_field_exists(struct sk_buff, redirected) || BPF_CORE_READ_BITFIELD(skb, redirected))
		return 0;
	if (!bridge || bridge != bridge_of(here->device) ||
	    KGET(u32, skb, skb_iif) != KGET(u32, from, ifindex))
		return 0;
	return bridge;
}

/* The rules and what they depend on are those with which it set out, and the functions those that were
 * judged. */
INLINE int rules_are_the_same(const struct tna_bridge_passage *here, u64 bridge)
{
	volatile struct tna_judged_bridge_rules *judged = judged_bridge_rules();

	if (here->generation != bridge_rules_generation(own_net) || here->serial != judged->serial ||
	    here->calls != rules_called(bridge, here->is.version))
		return 0;
	if (!bridge_rules_differ(own_net))
		return 1;
	judged->missed = 1;
	return 0;
}

NOINLINE void write_bridge_lesson(const struct tna_bridge_passage *here, u64 out, u64 bridge)
{
	/* no CPU writes two at a time */
	u64 stamp = bpf_ktime_get_ns() << 12 | (bpf_get_smp_processor_id() & 0xfff);
	struct tna_bridge_lesson lesson = {
		.stamp = stamp,
		.packet = here->is,
		.serial = here->serial,
		.calls = here->calls,
		.stamp_again = stamp,
	};

	lesson_device(here->device, &lesson.came);
	lesson_device(out, &lesson.left);
	lesson_device(bridge, &lesson.bridge);
	bpf_map_update_elem(&bridge_lessons, &here->is, &lesson, BPF_ANY);
}

SEC("raw_tp/net_dev_queue")
int bridge_arrived(struct bpf_raw_tracepoint_args *ctx)
{
	struct tna_bridge_passage *here = passage_here();
	struct sk_buff *skb = KOBJ(struct sk_buff, ctx->args[0]);
	struct tna_bridged_packet is = {};

	if (!here || !here->packet || here->packet != ctx->args[0])
		return 0;
	here->packet = 0;
	u64 bridge = has_passed_bridge(skb, here);

	if (!bridge || !rules_are_the_same(here, bridge) || packet_look(skb, ETH_HLEN, &is) != here->hops ||
	    packets_differ(&is, &here->is))
		return 0;
	write_bridge_lesson(here, KGET(u64, skb, dev), KLOAD(u64, KADDR(struct net_bridge, bridge, dev)));
	return 0;
}

char _license[] SEC("license") = "GPL";
