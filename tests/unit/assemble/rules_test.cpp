// SPDX-License-Identifier: Apache-2.0
// Which rules are steady for the packets of an established flow, expression by expression.
#include "assemble/rules/judge.hpp"
#include "assemble/rules/text.hpp"
#include "rule_builder.hpp"

#include <gtest/gtest.h>
#include <linux/netfilter/xt_connmark.h>
#include <linux/netfilter/xt_conntrack.h>
#include <linux/netfilter/xt_tcpudp.h>
#include <ostream>

namespace tna::test {
namespace {

using model::RuleExpression;
using Expressions = std::vector<RuleExpression>;

/// Where the rule under test is alone in a chain; the empty reason is that of steady rules.
std::string reasonAgainst(const Expressions& expressions, bool tcp = true) {
    const auto hook = judgedForward(ruleSetOf({expressions}));
    for (const auto& obstacle : hook.obstacles)
        if (tcp ? obstacle.tcp : obstacle.udp)
            return obstacle.reason;
    return "";
}

struct Row {
    const char* name;
    Expressions expressions;
    const char* reason = ""; ///< a part of it; empty: steady
    const char* looksAt = "";
};
std::ostream& operator<<(std::ostream& out, const Row& row) {
    return out << row.name;
}

std::vector<std::uint8_t> connectionMark(std::uint8_t mode, std::uint32_t mark, std::uint32_t mask) {
    xt_connmark_tginfo1 info{};
    info.mode = mode;
    info.ctmark = mark;
    info.ctmask = mask;
    return bytesOf(info);
}

const std::vector<Row> rows{
    {"Source", {payload(1, 12, 4), cmp({10, 0, 0, 1}), accept()}},
    {"Ports", {payload(2, 0, 4), cmp({0, 1, 0, 2}), accept()}},
    {"Dscp", {payload(1, 1, 1), cmp({0x2e}), accept()}, "", "DSCP and ECN"},
    {"Ttl", {payload(1, 8, 1), cmp({1}), drop()}, "", "TTL"},
    {"LengthOfThePacket", {payload(1, 2, 2), cmp({0, 64}), drop()}, "", "length"},
    {"Station", {payload(0, 6, 6), cmp({2, 0, 0, 0, 0, 1}), drop()}, "", "MAC addresses"},
    {"Identification", {payload(1, 4, 2), cmp({0, 1}), drop()}, "differs between the packets"},
    {"SequenceNumber", {payload(2, 4, 4), cmp({0, 0, 0, 1}), drop()}, "differs between the packets"},
    {"WhatIsCarried", {payload(2, 20, 4), cmp({1, 2, 3, 4}), drop()}, "differs between the packets"},
    {"AsMuchAsAllRegisters", {payload(2, 0, 4096), cmp({1}), drop()}, "more of the packet"},
    {"Rewriting", {immediate({0}), writing(payload(1, 1, 1))}, "rewrites the packet"},
    {"Device", {meta(NFT_META_IIFNAME), cmp({'e', 't', 'h', '0', 0}), accept()}},
    {"Mark", {meta(NFT_META_MARK), cmp({1, 0, 0, 0}), accept()}},
    {"SettingTheMark", {immediate({1, 0, 0, 0}), writing(meta(NFT_META_MARK))}},
    {"PacketType", {meta(NFT_META_PKTTYPE), cmp({0}), accept()}, "", "packet type"},
    {"Processor", {meta(NFT_META_CPU), cmp({0, 0, 0, 0}), accept()}, "chance, the clock, or the processor"},
    {"TimeOfDay", {meta(NFT_META_TIME_HOUR), cmp({0, 0, 0, 0}), accept()}, "chance, the clock"},
    {"Owner", {meta(NFT_META_SKUID), cmp({0, 0, 0, 0}), accept()}, "not known to stay the same"},
    {"Trace", {immediate({1}), writing(meta(NFT_META_NFTRACE))}, "traced"},
    {"PrioritySet", {immediate({1, 0, 0, 0}), writing(meta(NFT_META_PRIORITY))}, "changes what belongs"},
    {"MetaOfTheFuture", {meta(77), cmp({0}), accept()}, "not known to stay the same"},
    {"ConnectionsMark", {ct(NFT_CT_MARK), cmp({1, 0, 0, 0}), accept()}},
    {"ConnectionsDirection", {ct(NFT_CT_DIRECTION), cmp({1}), accept()}},
    {"ConnectionsPackets", {ct(NFT_CT_PKTS), cmp({1}), accept()}, "how much the connection has carried"},
    {"ConnectionsBytes", {ct(NFT_CT_BYTES), cmp({1}), accept()}, "how much the connection has carried"},
    {"ConnectionsAverage", {ct(NFT_CT_AVGPKT), cmp({1}), accept()}, "how much the connection has carried"},
    {"ConnectionsEnd", {ct(NFT_CT_EXPIRATION), cmp({1}), accept()}, "how long it will last"},
    {"ConnectionsLabels", {ct(NFT_CT_LABELS), cmp({1}), accept()}, "in the middle of a connection"},
    {"ConnectionsHelper", {ct(NFT_CT_HELPER), cmp({1}), accept()}, "in the middle of a connection"},
    {"RoutesDeviceName",
     {of("fib", 1, NFT_FIB_RESULT_OIFNAME), cmp({'w'}), accept()},
     "the name of a device"},
    {"MatchHelper", {match("helper", 0), accept()}, "the match 'helper'"},
    {"ConnectionsMarkSet", {immediate({1, 0, 0, 0}), writing(ct(NFT_CT_MARK))}},
    {"ConnectionsMarkTurned",
     {ct(NFT_CT_MARK), bitwise({0xff, 0xff, 0xff, 0xff}, {1, 0, 0, 0}), writing(ct(NFT_CT_MARK))},
     "not constant"},
    {"ConnectionsLabelsSet", {immediate({1, 0, 0, 0}), writing(ct(NFT_CT_LABELS))}, "changes the connection"},
    {"RoutesNextHop", {of("rt", 1, NFT_RT_NEXTHOP4), cmp({10, 0, 0, 1}), accept()}, "", "routes"},
    {"RoutesRealm", {of("rt", 1, NFT_RT_CLASSID), cmp({1, 0, 0, 0}), accept()}, "not known to stay the same"},
    {"HashOfTheFlow", {payload(1, 12, 4), of("hash", 1), cmp({0, 0, 0, 0}), accept()}},
    {"Counter", {of("counter"), accept()}},
    {"Reject", {of("reject")}},
    {"Limit", {of("limit"), accept()}, "how much has passed"},
    {"Quota", {of("quota"), drop()}, "how much has passed"},
    {"NumberOfConnections", {of("connlimit"), drop()}, "how much has passed"},
    {"Last", {of("last")}, "notes the time"},
    {"Chance", {of("numgen", 1), cmp({0, 0, 0, 0}), accept()}, "chance"},
    {"Log", {of("log")}, "tells about each packet"},
    {"LogAndAccept", {of("log"), accept()}, "tells about each packet"},
    {"LogAndDrop", {of("log"), drop()}},
    {"LogAndReject", {of("log"), of("reject")}},
    {"LimitLogAndDrop", {of("limit"), of("log"), drop()}, "how much has passed"},
    {"Queue", {of("queue")}, "a program decides"},
    {"QueueAsVerdict", {verdict({NF_QUEUE | 1 << 16, ""})}, "a program decides"},
    {"StolenAsVerdict", {verdict({NF_STOLEN, ""})}, "its verdict is not known"},
    {"ChangingASet", {payload(1, 12, 4), of("dynset")}, "packets change a set"},
    {"Flowtable", {of("flow_offload")}, "flowtable"},
    {"Copies", {of("dup")}, "'dup' is not known"},
    {"Proxy", {of("tproxy")}, "'tproxy' is not known"},
    {"ProxyForSyn", {of("synproxy")}, "'synproxy' is not known"},
    {"SocketLookup", {of("socket", 1)}, "'socket' is not known"},
    {"Fingerprints", {of("osf", 1)}, "'osf' is not known"},
    {"Tunnel", {of("tunnel", 1)}, "'tunnel' is not known"},
    {"OfTheFuture", {of("oracle"), accept()}, "'oracle' is not known"},
    {"NotUnderstood", {notUnderstood(meta(NFT_META_MARK)), accept()}, "newer than tnad"},
    {"Untracked", {of("notrack")}},
    {"ObjectThatCounts", {object(NFT_OBJECT_COUNTER)}},
    {"ObjectThatHelps", {object(NFT_OBJECT_CT_HELPER)}},
    {"ObjectThatLimits", {object(NFT_OBJECT_LIMIT)}, "how much has passed"},
    {"ObjectThatExpects", {object(NFT_OBJECT_CT_EXPECT)}, "does more than decide"},
    {"MatchComment", {match("comment", 0), accept()}},
    {"MatchMultiport", {match("multiport", 1), accept()}},
    {"MatchAddressType", {match("addrtype", 1), accept()}, "", "routes"},
    {"MatchMac", {match("mac", 0), accept()}, "", "MAC addresses"},
    {"MatchLimit", {match("limit", 0), accept()}, "the match 'limit'"},
    {"MatchRecent", {match("recent", 1), accept()}, "the match 'recent'"},
    {"MatchStatistic", {match("statistic", 0), accept()}, "the match 'statistic'"},
    {"MatchIpset", {match("set", 4), accept()}, "the match 'set'"},
    {"MatchOfALaterRevision", {match("multiport", 2), accept()}, "(revision 2)"},
    {"MatchThatIsTooShort", {match("conntrack", 3, {1, 2, 3}), accept()}, "not of the size"},
    {"TargetMark", {target("MARK", 2)}},
    {"TargetChecksum", {target("CHECKSUM", 0)}},
    {"TargetReject", {target("REJECT", 0)}},
    {"TargetLog", {target("LOG", 0)}, "LOG tells"},
    {"TargetLogAndDrop", {target("LOG", 0), drop()}},
    {"TargetQueue", {target("NFQUEUE", 3)}, "the target NFQUEUE"},
    {"TargetTtl", {target("TTL", 0)}, "the target TTL"},
    {"TargetConnmarkRestored", {target("CONNMARK", 1, connectionMark(XT_CONNMARK_RESTORE, 0, 0))}},
    {"TargetConnmarkSet", {target("CONNMARK", 1, connectionMark(XT_CONNMARK_SET, 1, 0xff))}},
    {"TargetConnmarkTurned", {target("CONNMARK", 1, connectionMark(XT_CONNMARK_SET, 1, 0))}, "not constant"},
    {"TargetConnmarkSaved",
     {target("CONNMARK", 1, connectionMark(XT_CONNMARK_SAVE, 0, ~0U))},
     "not constant"}};

/// libvirt's rule for DHCP is no matter: what goes to its ports is not finished by the fast path either.
TEST(Rules, WhoseChecksumsAreFinished) {
    const auto finished = [](const std::vector<model::RuleExpression>& rule) {
        const auto judged = judgedForward(ruleSetOf({rule}));
        return std::pair(judged.finishesTcp, judged.finishesUdp);
    };
    const auto fill = target("CHECKSUM", 0);
    EXPECT_EQ(finished({fill}), std::pair(true, true));
    EXPECT_EQ(finished({payload(2, 2, 2), cmp({0, 53}), fill}), std::pair(true, true));
    EXPECT_EQ(finished({payload(2, 2, 2), cmp({0, 68}), fill}), std::pair(true, false))
        << "TCP has that port";
    EXPECT_EQ(finished({meta(NFT_META_L4PROTO), cmp({17}), payload(2, 2, 2), cmp({0, 68}), fill}),
              std::pair(false, false));
}

class OneRule : public ::testing::TestWithParam<Row> {};

TEST_P(OneRule, IsSteadyOrSaysWhyNot) {
    const auto hook = judgedForward(ruleSetOf({GetParam().expressions}));
    const std::string reason = GetParam().reason;
    EXPECT_EQ(hook.steadyForTcp && hook.steadyForUdp, reason.empty());
    ASSERT_EQ(hook.obstacles.empty(), reason.empty());
    if (!reason.empty()) {
        EXPECT_TRUE(hook.obstacles[0].reason.contains(reason)) << hook.obstacles[0].reason;
        EXPECT_EQ(hook.obstacles[0].handle, 1U);
        EXPECT_EQ(hook.obstacles[0].chain, "forward");
        EXPECT_FALSE(hook.obstacles[0].hint.empty());
    }
    const std::string looksAt = GetParam().looksAt;
    EXPECT_EQ(hook.looksAt, looksAt.empty() ? std::vector<std::string>{} : std::vector{looksAt});
}
INSTANTIATE_TEST_SUITE_P(Expressions, OneRule, ::testing::ValuesIn(rows),
                         [](const auto& info) { return std::string(info.param.name); });

/// Whether what follows a rule is reached, for TCP and for UDP.
struct Reach {
    const char* name;
    Expressions before;
    bool tcp;
    bool udp;
};
std::ostream& operator<<(std::ostream& out, const Reach& row) {
    return out << row.name;
}

constexpr std::uint8_t tcpNumber = 6, udpNumber = 17, syn = 0x02, ack = 0x10, push = 0x08, fin = 0x01;
std::vector<std::uint8_t> states(std::uint16_t mask, bool inverted = false, std::uint16_t more = 0) {
    xt_conntrack_mtinfo3 info{};
    info.match_flags = XT_CONNTRACK_STATE | more;
    info.invert_flags = inverted ? XT_CONNTRACK_STATE : 0;
    info.state_mask = mask;
    return bytesOf(info);
}
std::vector<std::uint8_t> flags(std::uint8_t mask, std::uint8_t wanted) {
    xt_tcp info{};
    info.flg_mask = mask;
    info.flg_cmp = wanted;
    return bytesOf(info);
}
Expressions stateIn(std::uint8_t mask) {
    return {ct(NFT_CT_STATE), bitwise({mask, 0, 0, 0}, {0, 0, 0, 0}), cmp({0, 0, 0, 0}, NFT_CMP_NEQ),
            accept()};
}
constexpr std::uint8_t invalid = 1, established = 2, related = 4, fresh = 8;

const std::vector<Reach> reaches{
    {"AcceptingAll", {accept()}, false, false},
    {"DroppingAll", {drop()}, false, false},
    {"Rejecting", {of("reject")}, false, false},
    {"AcceptingEstablished", stateIn(established | related), false, false},
    {"AcceptingNew", stateIn(fresh), true, true},
    {"DroppingInvalid", stateIn(invalid), true, true},
    {"AcceptingTcp", {meta(NFT_META_L4PROTO), cmp({tcpNumber}), accept()}, false, true},
    {"AcceptingUdpByTheHeader", {payload(1, 9, 1), cmp({udpNumber}), accept()}, true, false},
    {"AcceptingIpv4", {meta(NFT_META_NFPROTO), cmp({NFPROTO_IPV4}), accept()}, false, false},
    {"AcceptingIpv6", {meta(NFT_META_NFPROTO), cmp({NFPROTO_IPV6}), accept()}, true, true},
    {"AcceptingAProtocolRange", {meta(NFT_META_L4PROTO), range({1}, {10}), accept()}, false, true},
    {"AcceptingSyn",
     {meta(NFT_META_L4PROTO), cmp({tcpNumber}), payload(2, 13, 1), bitwise({syn | ack}, {0}), cmp({syn}),
      accept()},
     true,
     true},
    {"AcceptingAck",
     {meta(NFT_META_L4PROTO), cmp({tcpNumber}), payload(2, 13, 1), bitwise({syn | ack}, {0}), cmp({ack}),
      accept()},
     false,
     true},
    {"AcceptingPush",
     {meta(NFT_META_L4PROTO), cmp({tcpNumber}), payload(2, 13, 1), bitwise({push}, {0}), cmp({push}),
      accept()},
     true,
     true},
    {"AcceptingFragments",
     {payload(1, 6, 2), bitwise({0x1f, 0xff}, {0, 0}), cmp({0, 0}, NFT_CMP_NEQ), accept()},
     true,
     true},
    {"AcceptingWholePackets",
     {payload(1, 6, 2), bitwise({0x1f, 0xff}, {0, 0}), cmp({0, 0}), accept()},
     false,
     false},
    {"AcceptingOneAddress", {payload(1, 12, 4), cmp({10, 0, 0, 1}), accept()}, true, true},
    {"AcceptingAssured",
     {ct(NFT_CT_STATUS), bitwise({4, 0, 0, 0}, {0, 0, 0, 0}), cmp({0, 0, 0, 0}, NFT_CMP_NEQ), accept()},
     false,
     false},
    {"AcceptingTranslated",
     {ct(NFT_CT_STATUS), bitwise({32, 0, 0, 0}, {0, 0, 0, 0}), cmp({0, 0, 0, 0}, NFT_CMP_NEQ), accept()},
     true,
     true},
    {"MatchingEstablished", {match("conntrack", 3, states(established)), accept()}, false, false},
    {"MatchingEstablishedInTheOldWords",
     {match("conntrack", 3, states(established, false, XT_CONNTRACK_STATE_ALIAS)), accept()},
     false,
     false},
    {"MatchingEstablishedFromSomebody",
     {match("conntrack", 3, states(established, false, XT_CONNTRACK_ORIGSRC)), accept()},
     true,
     true},
    {"MatchingNew", {match("conntrack", 3, states(fresh)), accept()}, true, true},
    {"MatchingAllButNew", {match("conntrack", 3, states(fresh, true)), accept()}, false, false},
    {"MatchingTranslated", {match("conntrack", 3, states(XT_CONNTRACK_STATE_DNAT)), accept()}, true, true},
    {"MatchingSyn",
     {meta(NFT_META_L4PROTO), cmp({tcpNumber}), match("tcp", 0, flags(syn | ack | fin, syn)), accept()},
     true,
     true},
    {"Returning", {verdict({NFT_RETURN, ""})}, false, false},
    {"JumpingToNothing", {of("counter")}, true, true}};

class RuleBefore : public ::testing::TestWithParam<Reach> {};

TEST_P(RuleBefore, DecidesWhetherTheNextOneIsReached) {
    const auto hook = judgedForward(ruleSetOf({GetParam().before, {of("limit"), accept()}}));
    EXPECT_EQ(!hook.steadyForTcp, GetParam().tcp);
    EXPECT_EQ(!hook.steadyForUdp, GetParam().udp);
}
INSTANTIATE_TEST_SUITE_P(Expressions, RuleBefore, ::testing::ValuesIn(reaches),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Rules, OfUdpOnlyAreInTheWayOfUdpOnly) {
    const Expressions rule{meta(NFT_META_L4PROTO), cmp({udpNumber}), of("limit"), drop()};
    EXPECT_EQ(reasonAgainst(rule, true), "");
    EXPECT_EQ(reasonAgainst(rule, false), "how much has passed decides");
}

} // namespace
} // namespace tna::test
