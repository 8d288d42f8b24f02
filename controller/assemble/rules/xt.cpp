// SPDX-License-Identifier: Apache-2.0
// The matches and targets of iptables, as iptables-nft has them in rules of nf_tables.
#include "assemble/rules/expression.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <fmt/format.h>
#include <linux/in.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/xt_connmark.h>
#include <linux/netfilter/xt_conntrack.h>
#include <linux/netfilter/xt_CT.h>
#include <linux/netfilter/xt_mark.h>
#include <linux/netfilter/xt_state.h>
#include <linux/netfilter/xt_tcpudp.h>
#include <linux/udp.h>
#include <tna/fastpath.h>

namespace tna::assemble::rules {

namespace {
using model::RuleExpression;

template <typename Info>
std::optional<Info> infoOf(const RuleExpression& expression) {
    Info info;
    if (expression.data.size() < sizeof info)
        return std::nullopt;
    std::memcpy(&info, expression.data.data(), sizeof info);
    return info;
}

Step unreadable() {
    return Step::never("what it is told is not of the size that is known");
}

/// Which of the states that a rule lists: this one, none, or perhaps that addresses are translated.
Step stateStep(std::uint32_t mask, std::uint32_t translated, std::uint32_t untracked, bool inverted,
               const AbstractPacket& packet) {
    constexpr std::uint32_t established = 1U << (IP_CT_ESTABLISHED + 1);
    Answer answer = (mask & translated) != 0 || !packet.tracked ? Answer::maybe : Answer::no;
    if (packet.tracked && (mask & established) != 0)
        answer = Answer::yes;
    if (packet.invalid)
        answer = (mask & XT_CONNTRACK_STATE_INVALID) != 0 ? Answer::yes : Answer::no;
    if (packet.exempt)
        answer = (mask & untracked) != 0 ? Answer::yes : Answer::no;
    return Step::flow(inverted ? opposite(answer) : answer);
}

/// The three revisions have the same beginning; the states have 16 bits since the second.
Step conntrack(const RuleExpression& expression, const AbstractPacket& packet) {
    constexpr std::uint32_t translated = XT_CONNTRACK_STATE_SNAT | XT_CONNTRACK_STATE_DNAT;
    const bool withoutConnection = packet.invalid || packet.exempt;
    std::uint32_t flags = 0, inverted = 0, mask = 0;
    if (expression.key == 1) {
        const auto info = infoOf<xt_conntrack_mtinfo1>(expression);
        if (!info)
            return unreadable();
        flags = info->match_flags, inverted = info->invert_flags, mask = info->state_mask;
    } else {
        const auto info = infoOf<xt_conntrack_mtinfo2>(expression);
        if (!info)
            return unreadable();
        flags = info->match_flags, inverted = info->invert_flags, mask = info->state_mask;
    }
    if ((flags & XT_CONNTRACK_EXPIRES) != 0 && !packet.exempt)
        return Step::differs("how long the connection will last decides");
    if ((flags & XT_CONNTRACK_STATE) == 0)
        return Step::flow(withoutConnection ? Answer::no : Answer::maybe);
    auto step = stateStep(mask, translated, XT_CONNTRACK_STATE_UNTRACKED,
                          (inverted & XT_CONNTRACK_STATE) != 0, packet);
    // Whatever else is asked for may be so or not. (`-m state` is written with a flag of its own.)
    // Of what has no connection nothing else is asked (conntrack_mt).
    if (!withoutConnection && (flags & ~(XT_CONNTRACK_STATE | XT_CONNTRACK_STATE_ALIAS)) != 0 &&
        step.answer == Answer::yes)
        step.answer = Answer::maybe;
    return step;
}

Step state(const RuleExpression& expression, const AbstractPacket& packet) {
    const auto info = infoOf<xt_state_info>(expression);
    return info ? stateStep(info->statemask, 0, XT_STATE_UNTRACKED, false, packet) : unreadable();
}

Step tcp(const RuleExpression& expression, const AbstractPacket& packet) {
    const auto info = infoOf<xt_tcp>(expression);
    if (!info)
        return unreadable();
    if (info->option != 0)
        return Step::differs("an option of TCP decides");
    if (info->flg_mask == 0 && info->flg_cmp == 0)
        return Step::flow();
    if (packet.protocol != IPPROTO_TCP) // by a rule that does not ask for the protocol before
        return Step::differs("it looks at what differs between the packets of a flow");
    constexpr std::uint8_t syn = 0x02, ack = 0x10, push = 0x08;
    const std::array value{ack};
    const Bits flags{{value.begin(), value.end()}, {static_cast<std::uint8_t>(packet.invalid ? syn : ~push)}};
    const std::array mask{info->flg_mask}, wanted{info->flg_cmp}, none{std::uint8_t{0}};
    auto answer = compare(masked(flags, mask, none), 0, wanted);
    if ((info->invflags & XT_TCP_INV_FLAGS) != 0)
        answer = opposite(answer);
    // Of those that are known, ports decide as well.
    auto step = answer == Answer::maybe ? Step::key({"TCP flags"})
                                        : Step::flow(answer == Answer::yes ? Answer::maybe : answer);
    step.asksKind = true;
    return step;
}

using Match = Step (*)(const RuleExpression&, const AbstractPacket&);
Step ofFlow(const RuleExpression&, const AbstractPacket&) {
    return Step::flow();
}
Step always(const RuleExpression&, const AbstractPacket&) {
    return Step::flow(Answer::yes);
}
Step connectionMark(const RuleExpression&, const AbstractPacket& packet) {
    if (packet.exempt) // there is no connection (connmark_mt)
        return Step::flow(Answer::no);
    auto step = Step::flow();
    step.asksConnectionMark = true;
    return step;
}
Step addressType(const RuleExpression&, const AbstractPacket&) {
    return Step::key({"routes"});
}
Step reversePath(const RuleExpression&, const AbstractPacket& packet) {
    return Step::key(routesLookAt(packet));
}
/// Of IPv6; packets that have one are not meant, but for those that are called invalid.
Step extensionHeader(const RuleExpression& expression, const AbstractPacket& packet) {
    if (!packet.ipv6)
        return Step::differs(fmt::format("'{}' is known for IPv6 only", expression.name));
    auto step = Step::flow(packet.invalid ? Answer::maybe : Answer::no);
    step.asksKind = true;
    return step;
}
constexpr const char* macs = "MAC addresses";
constexpr const char* lengths = "length";
constexpr const char* lives = "TTL";
constexpr const char* services = "DSCP and ECN";
constexpr const char* packetTypes = "packet type";
template <const char* const& Field>
Step keyed(const RuleExpression&, const AbstractPacket&) {
    return Step::key({Field});
}

struct KnownMatch {
    std::string_view name;
    std::uint32_t lastRevision;
    Match evaluate;
};
constexpr std::array matches{
    KnownMatch{"conntrack", 3, conntrack}, KnownMatch{"state", 0, state}, KnownMatch{"tcp", 0, tcp},
    KnownMatch{"udp", 0, ofFlow},
    // Of others it sees the first two bytes, which are a port.
    KnownMatch{"icmp", 0, ofFlow}, KnownMatch{"icmp6", 0, ofFlow}, KnownMatch{"multiport", 1, ofFlow},
    KnownMatch{"addrtype", 1, addressType}, KnownMatch{"rpfilter", 0, reversePath},
    KnownMatch{"mark", 1, ofFlow}, KnownMatch{"connmark", 1, connectionMark},
    KnownMatch{"comment", 0, always}, KnownMatch{"iprange", 1, ofFlow}, KnownMatch{"physdev", 0, ofFlow},
    KnownMatch{"devgroup", 0, ofFlow}, KnownMatch{"rt", 0, extensionHeader},
    KnownMatch{"frag", 0, extensionHeader}, KnownMatch{"hbh", 0, extensionHeader},
    KnownMatch{"dst", 0, extensionHeader}, KnownMatch{"mac", 0, keyed<macs>},
    KnownMatch{"length", 0, keyed<lengths>}, KnownMatch{"ttl", 0, keyed<lives>},
    KnownMatch{"hl", 0, keyed<lives>}, KnownMatch{"dscp", 0, keyed<services>},
    KnownMatch{"tos", 1, keyed<services>}, KnownMatch{"pkttype", 0, keyed<packetTypes>}};

/// What both revisions have.
struct Connmark {
    std::uint32_t mark = 0;
    std::uint32_t mask = 0; ///< of the connection's
    std::uint32_t packetMask = 0;
    std::uint8_t mode = 0;
    std::uint8_t shift = 0;
};

std::optional<Connmark> connmarkOf(const RuleExpression& expression) {
    if (expression.key == 1) {
        const auto info = infoOf<xt_connmark_tginfo1>(expression);
        return info ? std::optional(Connmark{info->ctmark, info->ctmask, info->nfmask, info->mode, 0})
                    : std::nullopt;
    }
    const auto info = infoOf<xt_connmark_tginfo2>(expression);
    return info ? std::optional(
                      Connmark{info->ctmark, info->ctmask, info->nfmask, info->mode, info->shift_bits})
                : std::nullopt;
}

/// Setting a mark is the same for each packet if it sets all the bits that it changes.
Step connmark(const RuleExpression& expression) {
    const auto info = connmarkOf(expression);
    if (!info)
        return unreadable();
    const auto [mark, mask, packetMask, mode, shift] = *info;
    if (mode == XT_CONNMARK_RESTORE) {
        auto step = Step::flow(Answer::yes);
        step.asksConnectionMark = step.alters = true;
        return step;
    }
    if (mode == XT_CONNMARK_SET && (mark & ~mask) == 0 && shift == 0) {
        auto step = Step::flow(Answer::yes);
        step.connectionMark = MarkSetting{.value = mark, .mask = mask};
        return step;
    }
    return Step::never("it changes the connection's mark to something that is not constant");
}

Step ct(const RuleExpression& expression) {
    const auto info = infoOf<xt_ct_target_info>(expression);
    if (!info)
        return unreadable();
    auto step = Step::flow(Answer::yes);
    step.untracks = (info->flags & XT_CT_NOTRACK) != 0;
    step.rezones = info->zone != 0 || (info->flags & XT_CT_ZONE_MARK) != 0;
    return step;
}

Step marks(const RuleExpression&) {
    auto step = Step::flow(Answer::yes);
    step.alters = true;
    return step;
}
Step rejects(const RuleExpression&) {
    auto step = Step::flow(Answer::yes);
    step.verdicts = {{NF_DROP, {}}};
    return step;
}
Step untracks(const RuleExpression&) {
    auto step = Step::flow(Answer::yes);
    step.untracks = true;
    return step;
}
Step tells(const RuleExpression& expression) {
    return Step::differs(fmt::format("{} tells about each packet", expression.name), Answer::yes);
}

/// CHECKSUM: on the wire there is no difference, but to whoever looks before.
Step finishes(const RuleExpression&) {
    auto step = Step::flow(Answer::yes);
    step.finishes = true;
    return step;
}

struct KnownTarget {
    std::string_view name;
    std::uint32_t lastRevision;
    Step (*evaluate)(const RuleExpression&);
};
constexpr std::array targets{KnownTarget{"MARK", 2, marks},        KnownTarget{"CONNMARK", 2, connmark},
                             KnownTarget{"CHECKSUM", 0, finishes}, KnownTarget{"REJECT", 0, rejects},
                             KnownTarget{"NOTRACK", 0, untracks},  KnownTarget{"CT", 2, ct},
                             KnownTarget{"LOG", 0, tells},         KnownTarget{"NFLOG", 0, tells},
                             KnownTarget{"AUDIT", 0, tells}};

template <typename Rows>
const auto* rowFor(const Rows& rows, const RuleExpression& expression) {
    const auto row = std::ranges::find_if(rows, [&](const auto& one) {
        return one.name == expression.name && expression.key <= one.lastRevision;
    });
    return row == rows.end() ? nullptr : &*row;
}
} // namespace

std::optional<std::uint32_t> markMatchedBy(const RuleExpression& expression) {
    if (expression.kind != "match" || expression.name != "mark" || expression.key != 1)
        return std::nullopt;
    const auto info = infoOf<xt_mark_mtinfo1>(expression);
    return info && info->mask == ~0U && info->invert == 0 ? std::optional(info->mark) : std::nullopt;
}

std::optional<MarkSetting> markSavedBy(const RuleExpression& expression, std::uint32_t mark) {
    const auto* known =
        expression.kind == "target" && expression.understood ? rowFor(targets, expression) : nullptr;
    const auto info = known != nullptr && known->evaluate == connmark ? connmarkOf(expression) : std::nullopt;
    if (!info || info->mode != XT_CONNMARK_SAVE || info->shift != 0 ||
        (mark & info->packetMask & ~info->mask) != 0)
        return std::nullopt;
    return MarkSetting{.value = mark & info->packetMask, .mask = info->mask};
}

bool asksForDhcp(const model::FilterRule& rule) {
    const auto asks = [](const RuleExpression& one) {
        const auto info =
            one.kind == "match" && one.name == "udp" && one.understood ? infoOf<xt_udp>(one) : std::nullopt;
        return info && info->dpts[0] >= TNA_DHCP_SERVER && info->dpts[1] <= TNA_DHCP_CLIENT &&
               (info->invflags & XT_UDP_INV_DSTPT) == 0;
    };
    const auto compares = [](const RuleExpression& load, const RuleExpression& cmp) {
        const std::vector<std::uint8_t> server{0, TNA_DHCP_SERVER}, client{0, TNA_DHCP_CLIENT};
        return load.kind == "payload" && load.understood && !load.writes &&
               load.key == NFT_PAYLOAD_TRANSPORT_HEADER && load.offset == offsetof(udphdr, dest) &&
               load.length == sizeof(udphdr::dest) && cmp.kind == "cmp" && cmp.understood &&
               cmp.source == load.destination && cmp.operation == NFT_CMP_EQ &&
               (cmp.data == server || cmp.data == client);
    };
    const auto& all = rule.expressions;
    return std::ranges::any_of(all, asks) || std::ranges::adjacent_find(all, compares) != all.end();
}

Step evaluateMatch(const RuleExpression& expression, const AbstractPacket& packet) {
    if (const auto* known = rowFor(matches, expression))
        return known->evaluate(expression, packet);
    return Step::differs(
        fmt::format("the match '{}' (revision {}) can answer differently for packets of one flow",
                    expression.name, expression.key));
}

Step evaluateTarget(const RuleExpression& expression, const AbstractPacket& packet) {
    const auto* known = rowFor(targets, expression);
    if (known != nullptr && known->evaluate == connmark && packet.exempt) // no connection (connmark_tg)
        return Step::flow(Answer::yes);
    if (known != nullptr)
        return known->evaluate(expression);
    return Step::never(
        fmt::format("the target {} (revision {}) does more than decide", expression.name, expression.key));
}

} // namespace tna::assemble::rules
