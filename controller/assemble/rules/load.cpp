// SPDX-License-Identifier: Apache-2.0
// What the expressions payload, meta and ct find in any packet of an established flow.
#include "assemble/rules/expression.hpp"

#include <algorithm>
#include <array>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <span>

namespace tna::assemble::rules {

namespace {
constexpr std::size_t nameSize = 16; // IFNAMSIZ

Bits number(std::uint32_t value) {
    std::array<std::uint8_t, sizeof value> bytes{};
    std::copy_n(reinterpret_cast<const std::uint8_t*>(&value), sizeof value, bytes.begin());
    return Bits::of(bytes);
}

Bits byte(std::uint8_t value) {
    return Bits::of(std::array{value});
}

Bits networkWord(std::uint16_t value) {
    return Bits::of(std::array{static_cast<std::uint8_t>(value >> 8U), static_cast<std::uint8_t>(value)});
}

Bits etherType(const AbstractPacket& packet) {
    return networkWord(packet.ipv6 ? ETH_P_IPV6 : ETH_P_IP);
}

/// Bytes of a header with something in common; those not in any row are unlike in packets of one flow.
struct Field {
    unsigned begin;
    unsigned end;
    const char* looksAt; ///< nullptr: the same for all packets of a flow
};
// A frame without a tag has the network header behind its type (nft_payload_need_vlan_adjust).
constexpr std::array ethernet{Field{0, 12, "MAC addresses"}, Field{12, 18, "VLAN tags"},
                              Field{14, 15, "IP options"}, Field{15, 16, "DSCP and ECN"},
                              Field{16, 18, "length"}};
constexpr std::array ethernet6{Field{0, 12, "MAC addresses"}, Field{12, 18, "VLAN tags"},
                               Field{14, 18, "traffic class and flow label"}};
constexpr std::array untagged{Field{0, 12, "MAC addresses"}, Field{12, 14, nullptr},
                              Field{14, 15, "IP options"}, Field{15, 16, "DSCP and ECN"},
                              Field{16, 18, "length"}};
constexpr std::array untagged6{Field{0, 12, "MAC addresses"}, Field{12, 14, nullptr},
                               Field{14, 18, "traffic class and flow label"}};
constexpr std::array ipv4{Field{0, 1, nullptr},  Field{1, 2, "DSCP and ECN"},
                          Field{2, 4, "length"}, Field{6, 8, "DF and the reserved bit"},
                          Field{8, 9, "TTL"},    Field{9, 10, nullptr},
                          Field{12, 20, nullptr}};
constexpr std::array ipv6{Field{0, 4, "traffic class and flow label"}, Field{4, 6, "length"},
                          Field{6, 7, nullptr}, Field{7, 8, "hop limit"}, Field{8, 40, nullptr}};
constexpr std::array tcp{Field{0, 4, nullptr}, Field{13, 14, "TCP flags"}};
constexpr std::array udp{Field{0, 4, nullptr}, Field{4, 6, "length"}};

std::span<const Field> fieldsOf(std::uint32_t base, const AbstractPacket& packet) {
    switch (base) {
    case NFT_PAYLOAD_LL_HEADER:
        if (packet.bridged)
            return packet.ipv6 ? std::span<const Field>(untagged6) : std::span<const Field>(untagged);
        return packet.ipv6 ? std::span<const Field>(ethernet6) : std::span<const Field>(ethernet);
    case NFT_PAYLOAD_NETWORK_HEADER:
        return packet.ipv6 ? std::span<const Field>(ipv6) : std::span<const Field>(ipv4);
    case NFT_PAYLOAD_TRANSPORT_HEADER:
        return packet.protocol == IPPROTO_TCP ? std::span<const Field>(tcp) : std::span<const Field>(udp);
    default:
        return {};
    }
}

/// The first byte of an IP header. Packets of another version come to no rule (ip_rcv_core, ip6_rcv_core,
/// br_validate_ipv4, br_validate_ipv6), unless it is one of bridges; those that are meant have no options.
void setVersion(Bits& bits, std::size_t at, const AbstractPacket& packet) {
    constexpr std::uint8_t version4 = 0x40, version6 = 0x60, onlyVersion = 0xf0, lengthWithoutOptions = 5;
    if (packet.bridged && packet.invalid)
        return;
    bits.value[at] = packet.ipv6 ? version6 : version4;
    bits.known[at] = onlyVersion;
    if (packet.ipv6 || packet.invalid)
        return;
    bits.value[at] |= lengthWithoutOptions;
    bits.known[at] = 0xff;
}

/// What is known of one byte.
void fill(Bits& bits, std::size_t at, std::uint32_t base, std::uint32_t offset,
          const AbstractPacket& packet) {
    const auto set = [&](std::uint8_t value, std::uint8_t known) {
        bits.value[at] = value;
        bits.known[at] = known;
    };
    // The protocol's number, or that of a tag (nft_payload_copy_vlan): what all three have in common.
    constexpr std::uint16_t tagTypes[] = {ETH_P_8021Q, ETH_P_8021AD};
    constexpr std::uint32_t typeAt = 12;
    if (base == NFT_PAYLOAD_LL_HEADER && (offset == typeAt || offset == typeAt + 1)) {
        const auto shift = offset == typeAt ? 8U : 0U;
        const unsigned type = packet.ipv6 ? ETH_P_IPV6 : ETH_P_IP;
        const auto unlike = packet.bridged ? 0U : (type ^ tagTypes[0]) | (type ^ tagTypes[1]);
        set(static_cast<std::uint8_t>(type >> shift), static_cast<std::uint8_t>(~unlike >> shift));
    }
    constexpr std::uint8_t syn = 0x02, ack = 0x10, ackOrPush = 0x18, moreFragmentsAndOffset = 0x3f;
    if (base == NFT_PAYLOAD_TRANSPORT_HEADER && packet.protocol == IPPROTO_TCP && offset == 13)
        packet.invalid ? set(0, syn) : set(ack, static_cast<std::uint8_t>(~(ackOrPush ^ ack)));
    if (base != NFT_PAYLOAD_NETWORK_HEADER)
        return;
    if (offset == 0)
        setVersion(bits, at, packet);
    if (offset == (packet.ipv6 ? 6U : 9U) && !(packet.ipv6 && packet.invalid)) // or an extension header's
        set(packet.protocol, 0xff);
    if (!packet.ipv6 && offset == 6)
        set(0, moreFragmentsAndOffset);
    if (!packet.ipv6 && offset == 7)
        set(0, 0xff);
}

/// Of packets in the middle of a flow it is known, of others it is not: flags, and what is in front of TCP.
bool isOfKind(std::uint32_t base, std::uint32_t offset, const AbstractPacket& packet) {
    if (base == NFT_PAYLOAD_NETWORK_HEADER)
        return packet.ipv6 && offset == 6;
    return base == NFT_PAYLOAD_TRANSPORT_HEADER && packet.protocol == IPPROTO_TCP && offset == 13;
}

Loaded flowOf(Bits bits) {
    return {std::move(bits), Step::flow(Answer::yes)};
}

Loaded neverOf(std::size_t size, std::string reason) {
    return {Bits::unknown(size), Step::differs(std::move(reason), Answer::yes)};
}

Loaded keyOf(std::size_t size, std::string_view field) {
    return {Bits::unknown(size), Step::key({field}, Answer::yes)};
}

/// Lessons of bridges know devices by name, number and group.
constexpr const char* kindOfDevice = "it asks for the kind of a device, which is not compared";

/// Of what belongs to a packet, and is not compared where rules of bridges ask for it.
Loaded markOf(const AbstractPacket& packet) {
    auto mark = flowOf(Bits::unknown(sizeof(std::uint32_t)));
    if (packet.bridged)
        mark.step = Step::differs("it asks for packets' marks, which are not compared here", Answer::yes);
    return mark;
}

/// Where there is no such thing, the rule ends.
Loaded perhapsOf(std::size_t size) {
    return {Bits::unknown(size), Step::flow()};
}

/// Of a device that is known, or not.
Loaded deviceNumber(const RuleDevice* device, std::uint32_t RuleDevice::* what) {
    return device != nullptr ? flowOf(number(device->*what)) : perhapsOf(sizeof(std::uint32_t));
}

Loaded incomingNumber(const AbstractPacket& packet) {
    auto loaded = deviceNumber(packet.from, &RuleDevice::ifindex);
    if (packet.notFrom != nullptr)
        loaded.bits.never = number(packet.notFrom->ifindex).value;
    return loaded;
}

Loaded deviceName(const RuleDevice* device, const RuleDevice* never = nullptr) {
    if (device == nullptr) {
        auto loaded = perhapsOf(nameSize);
        if (never != nullptr) {
            loaded.bits.never.assign(never->name.begin(), never->name.end());
            loaded.bits.never.push_back(0); // others may begin with its name
        }
        return loaded;
    }
    std::array<std::uint8_t, nameSize> bytes{};
    std::copy_n(device->name.begin(), std::min(device->name.size(), nameSize), bytes.begin());
    return flowOf(Bits::of(bytes));
}
} // namespace

Loaded loadPayload(const model::RuleExpression& expression, const AbstractPacket& packet) {
    constexpr std::uint32_t longest = 64; // all registers
    const auto end = std::uint64_t{expression.offset} + expression.length;
    if (expression.length > longest)
        return neverOf(longest, "it looks at more of the packet than is known");
    auto loaded = flowOf(Bits::unknown(expression.length));
    const auto fields = fieldsOf(expression.key, packet);
    // Devices without addresses have no such header.
    if (expression.key == NFT_PAYLOAD_LL_HEADER && !packet.bridged)
        loaded.step.answer = Answer::maybe;
    for (std::uint64_t offset = expression.offset; offset < end; ++offset) {
        bool known = false;
        for (const auto& field : fields)
            if (offset >= field.begin && offset < field.end) {
                known = true;
                if (field.looksAt != nullptr)
                    loaded.step.looksAt.emplace_back(field.looksAt);
            }
        if (!known)
            return neverOf(expression.length, "it looks at what differs between the packets of a flow");
        loaded.step.asksKind |= isOfKind(expression.key, static_cast<std::uint32_t>(offset), packet);
        fill(loaded.bits, offset - expression.offset, expression.key, static_cast<std::uint32_t>(offset),
             packet);
    }
    return loaded;
}

Loaded loadHeader(const model::RuleExpression& expression, const AbstractPacket& packet) {
    constexpr std::uint32_t longest = 64; // all registers
    constexpr std::array extensions{IPPROTO_HOPOPTS, IPPROTO_ROUTING, IPPROTO_FRAGMENT, IPPROTO_DSTOPTS,
                                    IPPROTO_MH};
    if (expression.operation == NFT_EXTHDR_OP_TCPOPT)
        return {Bits::unknown(longest), Step::differs("an option of TCP decides")};
    const bool ofIpv6 = expression.operation == NFT_EXTHDR_OP_IPV6;
    if (ofIpv6 ? std::ranges::find(extensions, expression.key) == extensions.end()
               : expression.operation != NFT_EXTHDR_OP_IPV4)
        return neverOf(longest, "it looks at a header that is not known");
    // Packets that are meant have none, others may (nft_exthdr_ipv6_eval, nft_exthdr_ipv4_eval).
    Loaded loaded{Bits::unknown(longest), Step::flow(Answer::no)};
    if (ofIpv6 != packet.ipv6)
        return loaded;
    const bool whether = (expression.offset & NFT_EXTHDR_F_PRESENT) != 0;
    if (whether && !packet.invalid)
        loaded.bits = number(0);
    if (whether)
        loaded.step.answer = Answer::yes;
    else if (packet.invalid)
        loaded.step.answer = Answer::maybe;
    loaded.step.asksKind = true;
    return loaded;
}

Loaded loadMeta(const model::RuleExpression& expression, const AbstractPacket& packet) {
    constexpr std::size_t word = sizeof(std::uint32_t);
    switch (expression.key) {
    case NFT_META_LEN:
        return keyOf(word, "length");
    case NFT_META_PROTOCOL:
        return flowOf(etherType(packet));
    case NFT_META_NFPROTO:
        return flowOf(byte(packet.bridged ? NFPROTO_BRIDGE : packet.ipv6 ? NFPROTO_IPV6 : NFPROTO_IPV4));
    case NFT_META_L4PROTO:
        return flowOf(byte(packet.protocol));
    case NFT_META_PRIORITY:
        return keyOf(word, "priority");
    case NFT_META_PKTTYPE:
        return keyOf(1, "packet type");
    case NFT_META_BRI_IIFPVID:
    case NFT_META_BRI_IIFVPROTO:
        return {Bits::unknown(2), Step::flow(Answer::no)}; // nft_meta_bridge_get_eval
    case NFT_META_MARK:
        return markOf(packet);
    case NFT_META_IIF:
        return incomingNumber(packet);
    case NFT_META_OIF:
        return deviceNumber(packet.to, &RuleDevice::ifindex);
    case NFT_META_IIFGROUP:
        return deviceNumber(packet.from, &RuleDevice::group);
    case NFT_META_OIFGROUP:
        return deviceNumber(packet.to, &RuleDevice::group);
    case NFT_META_IIFNAME:
        return deviceName(packet.from, packet.notFrom);
    case NFT_META_OIFNAME:
        return deviceName(packet.to);
    case NFT_META_SDIF:
        return perhapsOf(word);
    case NFT_META_IIFTYPE:
    case NFT_META_OIFTYPE:
        return packet.bridged ? neverOf(2, kindOfDevice) : perhapsOf(2);
    case NFT_META_IIFKIND:
    case NFT_META_OIFKIND:
        return packet.bridged ? neverOf(nameSize, kindOfDevice) : perhapsOf(nameSize);
    case NFT_META_BRI_IIFNAME:
    case NFT_META_BRI_OIFNAME:
    case NFT_META_SDIFNAME:
        return perhapsOf(nameSize);
    case NFT_META_CPU:
    case NFT_META_PRANDOM:
    case NFT_META_TIME_NS:
    case NFT_META_TIME_DAY:
    case NFT_META_TIME_HOUR:
        return neverOf(nameSize, "chance, the clock, or the processor decides");
    default:
        return neverOf(nameSize, "it looks at what is not known to stay the same for a flow");
    }
}

Loaded loadCt(const model::RuleExpression& expression, const AbstractPacket& packet) {
    constexpr std::size_t longest = 16;  // addresses, names
    if (packet.invalid || packet.exempt) // nothing else is known of it (nft_ct_get_eval)
        return expression.key == NFT_CT_STATE
                   ? flowOf(number(packet.exempt ? NF_CT_STATE_UNTRACKED_BIT : NF_CT_STATE_INVALID_BIT))
                   : Loaded{Bits::unknown(longest), Step::flow(Answer::no)};
    switch (expression.key) {
    case NFT_CT_STATE: {
        constexpr std::uint32_t established = 1U << (IP_CT_ESTABLISHED + 1);
        return flowOf(packet.tracked ? number(established) : Bits::unknown(sizeof established));
    }
    case NFT_CT_STATUS: {
        constexpr std::uint32_t both = IPS_SEEN_REPLY | IPS_ASSURED | IPS_CONFIRMED;
        auto bits = number(both);
        bits.known = bits.value;
        return packet.tracked ? flowOf(bits) : perhapsOf(bits.value.size());
    }
    case NFT_CT_DIRECTION:
    case NFT_CT_L3PROTOCOL:
    case NFT_CT_PROTOCOL:
    case NFT_CT_MARK: {
        auto mark = perhapsOf(longest);
        mark.step.asksConnectionMark = true;
        return mark;
    }
    case NFT_CT_ID:
    case NFT_CT_SRC:
    case NFT_CT_DST:
    case NFT_CT_PROTO_SRC:
    case NFT_CT_PROTO_DST:
    case NFT_CT_ZONE:
    case NFT_CT_SRC_IP:
    case NFT_CT_DST_IP:
    case NFT_CT_SRC_IP6:
    case NFT_CT_DST_IP6:
        return perhapsOf(longest);
    case NFT_CT_PKTS:
    case NFT_CT_BYTES:
    case NFT_CT_AVGPKT:
    case NFT_CT_EXPIRATION:
        return neverOf(longest, "how much the connection has carried, or how long it will last, decides");
    default: // a helper, too: it is asked of the connection that had this one expected, and may be taken from
             // that
        return neverOf(longest, "it looks at what can change in the middle of a connection");
    }
}

} // namespace tna::assemble::rules
