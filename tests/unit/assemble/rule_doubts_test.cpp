// SPDX-License-Identifier: Apache-2.0
// Where packets of one flow may fare differently although it does not look so.
#include "rule_builder.hpp"

#include <gtest/gtest.h>
#include <linux/netfilter/xt_connmark.h>
#include <linux/netfilter/xt_tcpudp.h>

namespace tna::test {
namespace {

using model::RuleExpression;
using model::RuleFamily;
using Expressions = std::vector<RuleExpression>;
using Names = std::vector<std::string>;

const Expressions limited{of("limit"), accept()};

bool steady(const model::RuleSet& set) {
    const auto hook = judgedForward(set);
    return hook.steadyForTcp && hook.steadyForUdp;
}
/// Whether what follows a rule that ends in `accept` may be reached.
bool mayGoOn(const Expressions& before) {
    return !steady(ruleSetOf({before, limited}));
}
Names looksAt(const Expressions& rule, RuleFamily family = RuleFamily::ip) {
    auto set = ruleSetOf({rule});
    set.chains[0].family = family;
    const auto hook = judgedAt(set, family, NF_INET_FORWARD);
    EXPECT_TRUE(hook.steadyForTcp && hook.steadyForUdp);
    return hook.looksAt;
}
std::string reasonOf(const model::RuleSet& set) {
    const auto hook = judgedForward(set);
    return hook.obstacles.empty() ? "" : hook.obstacles[0].reason;
}
TEST(LooksAt, AllFieldsThatAreLoadedAtOnce) {
    EXPECT_EQ(looksAt({payload(1, 0, 4), cmp({0x45, 0, 0, 64}), drop()}), (Names{"DSCP and ECN", "length"}));
    EXPECT_EQ(looksAt({payload(1, 7, 2), cmp({0, 1}), drop()}), (Names{"DF and the reserved bit", "TTL"}));
}

TEST(LooksAt, TagsWhereTheTypeOfFramesIsAsked) {
    const Expressions ipv4{payload(0, 12, 2), cmp({0x08, 0x00}), accept()};
    EXPECT_EQ(looksAt(ipv4, RuleFamily::bridge), Names{}) << "packets without a tag are meant";
    EXPECT_EQ(looksAt(ipv4), (Names{"VLAN tags"}));
    EXPECT_EQ(looksAt(ipv4, RuleFamily::ip6), Names{}) << "certainly not";
}

TEST(LooksAt, HeaderBehindTheTypeWhereThereMayBeNoTag) {
    EXPECT_EQ(looksAt({payload(0, 14, 2), cmp({0, 5}), accept()}),
              (Names{"DSCP and ECN", "IP options", "VLAN tags"}));
    EXPECT_EQ(looksAt({payload(0, 16, 2), cmp({0, 5}), accept()}), (Names{"VLAN tags", "length"}));
    EXPECT_EQ(looksAt({payload(0, 14, 2), cmp({0, 5}), accept()}, RuleFamily::ip6),
              (Names{"VLAN tags", "traffic class and flow label"}));
}

/// `ip version 4`, `ip hdrlength 5`, `ip6 version 6`: packets that are meant have no options.
TEST(LooksAt, NotTheVersionNorOptionsOfIp) {
    const auto asks = [](std::uint8_t mask, std::uint8_t wanted) {
        return Expressions{payload(1, 0, 1), bitwise({mask}, {0}), cmp({wanted}), accept()};
    };
    EXPECT_EQ(looksAt(asks(0xf0, 0x40)), Names{});
    EXPECT_EQ(looksAt(asks(0x0f, 5)), Names{});
    EXPECT_EQ(looksAt(asks(0xf0, 0x60), RuleFamily::ip6), Names{});
    EXPECT_EQ(looksAt(asks(0xff, 0x60), RuleFamily::ip6), Names{"traffic class and flow label"});
    EXPECT_FALSE(mayGoOn(asks(0xf0, 0x40)));
    EXPECT_FALSE(mayGoOn(asks(0xff, 0x45)));
    EXPECT_TRUE(mayGoOn(asks(0xf0, 0x60)));
    EXPECT_TRUE(mayGoOn(asks(0x0f, 6)));
}

model::RuleExpression header(std::uint32_t operation, std::uint8_t type, bool whether = true) {
    auto expression = of("exthdr", NFT_REG_1, type);
    expression.operation = operation;
    expression.offset = whether ? NFT_EXTHDR_F_PRESENT : 0;
    return expression;
}
bool steady6(const Expressions& rule) {
    auto set = ruleSetOf({rule, limited});
    set.chains[0].family = RuleFamily::ip6;
    const auto hook = judgedAt(set, RuleFamily::ip6, NF_INET_FORWARD);
    return hook.steadyForTcp && hook.steadyForUdp;
}

/// `exthdr frag exists`: packets that are meant have none; a part of one that is not there ends the rule.
TEST(LooksAt, NotExtensionHeadersOfIpv6) {
    constexpr std::uint8_t fragment = 44, none = 59;
    EXPECT_EQ(looksAt({header(NFT_EXTHDR_OP_IPV6, fragment), cmp({1}), drop()}, RuleFamily::ip6), Names{});
    EXPECT_TRUE(steady6({header(NFT_EXTHDR_OP_IPV6, fragment), cmp({0}), accept()}));
    EXPECT_FALSE(steady6({header(NFT_EXTHDR_OP_IPV6, fragment), cmp({1}), accept()}));
    EXPECT_FALSE(steady6({header(NFT_EXTHDR_OP_IPV6, fragment, false), accept()}));
    EXPECT_FALSE(steady6({header(NFT_EXTHDR_OP_IPV6, none), cmp({0}), accept()})) << "it is not known";
    EXPECT_FALSE(steady6({header(NFT_EXTHDR_OP_IPV4, 7), cmp({0}), accept()})) << "the rule ends";
    EXPECT_TRUE(mayGoOn({header(NFT_EXTHDR_OP_IPV6, fragment), cmp({0}), accept()})) << "the rule ends";
}

TEST(LooksAt, NotOptionsOfIpv4) {
    constexpr std::uint8_t recordsRoute = 7;
    EXPECT_EQ(looksAt({header(NFT_EXTHDR_OP_IPV4, recordsRoute), cmp({1}), drop()}), Names{});
    EXPECT_FALSE(mayGoOn({header(NFT_EXTHDR_OP_IPV4, recordsRoute), cmp({0}), accept()}));
    EXPECT_TRUE(mayGoOn({header(NFT_EXTHDR_OP_IPV4, recordsRoute, false), accept()}));
}

TEST(InTheWay, OptionsOfTcpThatDecideOrAreChanged) {
    constexpr std::uint8_t segmentSize = 2;
    EXPECT_EQ(reasonOf(ruleSetOf({{header(NFT_EXTHDR_OP_TCPOPT, segmentSize), cmp({1}), accept()}})),
              "an option of TCP decides");
    EXPECT_TRUE(steady(ruleSetOf({{header(NFT_EXTHDR_OP_TCPOPT, segmentSize), cmp({1}), drop()}, {drop()}})));
    EXPECT_EQ(reasonOf(ruleSetOf({{writing(header(NFT_EXTHDR_OP_TCPOPT, segmentSize))}})),
              "it rewrites the packet");
}

/// Packets that are meant have ACK, perhaps PSH, and no other.
TEST(LooksAt, FlagsOfTcpOnlyIfPushDecides) {
    constexpr std::uint8_t fin = 1, syn = 2, push = 8, ack = 0x10;
    const auto asks = [](std::uint8_t mask, std::uint8_t wanted, std::uint32_t operation = NFT_CMP_EQ) {
        return looksAt({meta(NFT_META_L4PROTO), cmp({6}), payload(2, 13, 1), bitwise({mask}, {0}),
                        cmp({wanted}, operation), drop()});
    };
    EXPECT_EQ(asks(syn | ack, syn), Names{});
    EXPECT_EQ(asks(syn | ack, ack), Names{});
    EXPECT_EQ(asks(fin | syn, 0, NFT_CMP_NEQ), Names{});
    EXPECT_EQ(asks(fin | push, fin | push), Names{}) << "without FIN it is certain";
    EXPECT_EQ(asks(push, push), Names{"TCP flags"});
    EXPECT_EQ(asks(push, 0, NFT_CMP_NEQ), Names{"TCP flags"});
    xt_tcp info{};
    info.flg_mask = syn | ack;
    info.flg_cmp = syn;
    const Expressions isTcp{meta(NFT_META_L4PROTO), cmp({6})};
    EXPECT_EQ(looksAt({isTcp[0], isTcp[1], match("tcp", 0, bytesOf(info)), drop()}), Names{});
    info.flg_mask = info.flg_cmp = push;
    EXPECT_EQ(looksAt({isTcp[0], isTcp[1], match("tcp", 0, bytesOf(info)), drop()}), Names{"TCP flags"});
}

TEST(LooksAt, AllThatIsUsedAgainOrElsewhere) {
    constexpr std::uint8_t syn = 2;
    const Expressions isTcp{meta(NFT_META_L4PROTO), cmp({6}), payload(2, 13, 1)};
    const auto with = [&](Expressions more) {
        more.insert(more.begin(), isTcp.begin(), isTcp.end());
        return looksAt(more);
    };
    auto apart = bitwise({syn}, {0});
    apart.destination = NFT_REG_2;
    const auto used = writing(meta(NFT_META_MARK));
    EXPECT_EQ(with({apart, used, accept()}), Names{"TCP flags"}) << "what was loaded is still there";
    EXPECT_EQ(with({cmp({syn}, NFT_CMP_NEQ), used, accept()}), Names{"TCP flags"});
    EXPECT_EQ(looksAt({payload(1, 0, 4), bitwise({0}, {0}), accept()}).size(), 2U) << "of a part only";
    EXPECT_EQ(looksAt({payload(1, 1, 1), cmp({0}), payload(1, 6, 2), bitwise({0x1f, 0xff}, {0, 0}),
                       cmp({0, 0}, NFT_CMP_NEQ), drop()}),
              Names{"DSCP and ECN"})
        << "of fragments nothing is looked at";
}

TEST(LooksAt, RoutesAndWhatTheyAreLookedUpBy) {
    const Expressions output{of("fib", 1, NFT_FIB_RESULT_OIF), cmp({0, 0, 0, 0}), drop()};
    EXPECT_EQ(looksAt(output), (Names{"DSCP and ECN", "routes"}));
    EXPECT_EQ(looksAt(output, RuleFamily::ip6), (Names{"routes", "traffic class and flow label"}));
    const Expressions type{of("fib", 1, NFT_FIB_RESULT_ADDRTYPE), cmp({1, 0, 0, 0}), accept()};
    EXPECT_EQ(looksAt(type), (Names{"routes"}));
    EXPECT_EQ(looksAt(type, RuleFamily::ip6), (Names{"routes", "traffic class and flow label"}));
    EXPECT_EQ(looksAt({match("rpfilter", 0), accept()}), (Names{"DSCP and ECN", "routes"}));
}

TEST(InTheWay, WhatAPathCanCarry) {
    EXPECT_EQ(reasonOf(ruleSetOf({{of("rt", 1, NFT_RT_TCPMSS), cmp({1, 0}), accept()}})),
              "it looks at what is not known to stay the same for a flow");
}

TEST(InTheWay, PolicyThatIsNotKnown) {
    auto set = ruleSetOf({});
    for (const auto policy : {NF_ACCEPT, NF_DROP}) {
        set.chains[0].policy = policy;
        EXPECT_TRUE(steady(set));
    }
    set.chains[0].policy = NF_QUEUE;
    EXPECT_EQ(reasonOf(set), "its policy is not known");
}

TEST(InTheWay, ChainThatIsNewerThanTnad) {
    auto set = ruleSetOf({{verdict({NFT_JUMP, "a"})}});
    set.chains.push_back(chainOf("a", {}));
    EXPECT_TRUE(steady(set));
    set.chains[1].understood = false;
    EXPECT_EQ(reasonOf(set), "it is not understood: it may be newer than tnad");
}

TEST(InTheWay, LogBeforeAMatchTellsOfThoseWhoGoOn) {
    const Expressions some{payload(1, 12, 4), cmp({10, 0, 0, 1})};
    Expressions before{of("log")}, behind = some;
    before.insert(before.end(), some.begin(), some.end());
    before.push_back(drop());
    behind.push_back(of("log"));
    behind.push_back(drop());
    EXPECT_EQ(reasonOf(ruleSetOf({before})), "it tells about each packet");
    EXPECT_TRUE(steady(ruleSetOf({behind})));
}

/// Rules behind which each packet is dropped, whatever they say.
struct Dropping {
    const char* name;
    std::vector<Expressions> rules;
    bool steady;
};
const Expressions some{payload(1, 12, 4), cmp({10, 0, 0, 1})};
Expressions someAnd(Expressions more) {
    more.insert(more.begin(), some.begin(), some.end());
    return more;
}
const std::vector<Dropping> droppings{
    {"LimitedLog", {{of("limit"), of("log")}}, true},
    {"LimitedLogOfThoseWhoGoOn", {{of("limit"), of("log")}, someAnd({accept()})}, false},
    {"LimitedLogBehindThoseWhoPass", {someAnd({accept()}), {of("limit"), of("log")}}, true},
    {"LimitedDrop", {{of("limit"), drop()}}, true},
    {"LimitedAccept", {{of("limit"), accept()}}, false},
    {"LimitedReturn", {{of("limit"), verdict({NFT_RETURN, ""})}}, true},
    {"LimitedJump", {{of("limit"), verdict({NFT_JUMP, "passes"})}}, false},
    {"LimitedJumpToDrop", {{of("limit"), verdict({NFT_JUMP, "drops"})}}, true},
    {"LimitedGotoBack", {{of("limit"), verdict({NFT_GOTO, "returns"})}}, false},
    {"JumpToLimited", {{verdict({NFT_JUMP, "limits"})}}, false},
    {"Queue", {{of("queue")}}, false},
    {"Unknown", {{of("oracle")}}, false},
    {"NotUnderstood", {{notUnderstood(of("limit"))}}, false},
    {"UnknownTarget", {{target("ORACLE", 0)}}, false},
    {"UnknownMatch", {{match("oracle", 0), drop()}}, true},
    {"UnknownSetOfVerdicts", {{payload(1, 12, 4), lookup("s", true)}}, false},
    {"LooksAtTtl", {{payload(1, 8, 1), cmp({1}), of("limit"), of("log")}}, true}};

TEST(Dropping, NoPacketThatPassesCanBeTreatedDifferently) {
    for (const auto& row : droppings) {
        auto set = ruleSetOf(row.rules);
        set.chains[0].policy = NF_DROP;
        set.chains.push_back(chainOf("passes", {someAnd({accept()})}));
        set.chains.push_back(chainOf("drops", {someAnd({of("log")}), {drop()}}));
        set.chains.push_back(chainOf("returns", {{of("limit"), verdict({NFT_RETURN, ""})}, {drop()}}));
        set.chains.push_back(chainOf("limits", {{of("limit"), of("log")}}));
        const auto hook = judgedForward(set);
        EXPECT_EQ(hook.steadyForTcp, row.steady) << row.name;
        EXPECT_TRUE(hook.looksAt.empty()) << row.name;
        set.chains[0].policy = NF_ACCEPT;
        EXPECT_FALSE(judgedForward(set).steadyForTcp) << row.name;
    }
}

TEST(GoesOn, NotWhereHeadersAreAskedForThatAreNotThere) {
    for (const auto* header : {"rt", "frag", "hbh", "dst"}) {
        auto set = ruleSetOf({{match(header, 0), of("limit"), drop()}});
        EXPECT_FALSE(steady(set));
        set.chains[0].family = RuleFamily::ip6;
        EXPECT_TRUE(judgedAt(set, RuleFamily::ip6, NF_INET_FORWARD).steadyForTcp) << header;
        set.chains[0].rules[0].expressions[0].key = 1;
        EXPECT_FALSE(judgedAt(set, RuleFamily::ip6, NF_INET_FORWARD).steadyForTcp) << "of a later revision";
    }
}

TEST(GoesOn, BehindContinue) {
    EXPECT_FALSE(steady(ruleSetOf({{verdict({NFT_CONTINUE, ""}), of("limit"), drop()}})));
    EXPECT_TRUE(mayGoOn({verdict({NFT_CONTINUE, ""})}));
    EXPECT_FALSE(mayGoOn({verdict({NFT_CONTINUE, ""}), accept()}));
}

TEST(GoesOn, BehindNotrackWhichDoesNothingToConnections) {
    EXPECT_FALSE(steady(ruleSetOf({{of("notrack"), of("limit"), drop()}})));
    EXPECT_FALSE(steady(ruleSetOf({{target("NOTRACK", 0), of("limit"), drop()}})));
    EXPECT_TRUE(mayGoOn({of("notrack"), accept()}));
}

TEST(GoesOn, WhereWhatIsLoadedMayNotBeThere) {
    EXPECT_TRUE(mayGoOn({payload(0, 0, 6), accept()})) << "devices without addresses";
    EXPECT_TRUE(mayGoOn({meta(NFT_META_IIFKIND), accept()}));
    EXPECT_TRUE(mayGoOn({ct(NFT_CT_HELPER), accept()}));
    EXPECT_FALSE(mayGoOn({payload(1, 12, 4), accept()}));
}

TEST(GoesOn, WhereTheRestOfARegisterIsNotKnown) {
    auto swapped = of("byteorder", NFT_REG_1);
    swapped.source = NFT_REG_1;
    swapped.length = 2;
    EXPECT_TRUE(mayGoOn({payload(2, 0, 2), swapped, cmp({0, 0, 1, 0}, NFT_CMP_NEQ), accept()}));
    auto shifted = bitwise({}, {});
    shifted.operation = NFT_BITWISE_LSHIFT;
    shifted.length = 2;
    EXPECT_TRUE(mayGoOn({payload(2, 0, 2), shifted, cmp({0, 0, 1, 0}, NFT_CMP_NEQ), accept()}));
}

/// Bridges, and devices with both ends in one namespace, may have looked a connection up before.
TEST(GoesOn, WhereAConnectionMayBeKnownAlready) {
    const Expressions noConnection{ct(NFT_CT_STATE), cmp({1, 0, 0, 0}), accept()};
    const Expressions withConnection{ct(NFT_CT_DIRECTION), of("limit"), accept()};
    for (const auto& rules :
         {std::vector<Expressions>{noConnection, limited}, std::vector<Expressions>{withConnection}}) {
        auto set = emptyRuleSet();
        set.chains.push_back(baseOf("raw", NF_INET_PRE_ROUTING, -300, rules));
        EXPECT_FALSE(judgedAt(set, RuleFamily::ip, NF_INET_PRE_ROUTING).steadyForTcp);
    }
}

TEST(GoesOn, MatchOfAnotherProtocolWhereNobodyAskedForTheProtocol) {
    EXPECT_FALSE(steady(ruleSetOf({{match("icmp", 0), of("limit"), drop()}})));
    xt_tcp flags{};
    flags.flg_mask = flags.flg_cmp = 2;
    const auto syn = match("tcp", 0, bytesOf(flags));
    EXPECT_TRUE(judgedForward(ruleSetOf({{syn, drop()}})).steadyForTcp);
    EXPECT_FALSE(judgedForward(ruleSetOf({{syn, drop()}})).steadyForUdp);
    EXPECT_TRUE(judgedForward(ruleSetOf({{meta(NFT_META_L4PROTO), cmp({6}), syn, drop()}})).steadyForUdp);
}

/// With one set `s` of the table.
model::RuleSet withSet(model::NamedSet set, std::vector<Expressions> rules) {
    auto all = ruleSetOf(std::move(rules));
    set.family = RuleFamily::ip;
    set.table = "t";
    set.name = "s";
    set.elements.complete = true;
    all.sets.push_back(std::move(set));
    return all;
}

TEST(InTheWay, SetThatPacketsChangeWhateverItsFlags) {
    const Expressions looksUp{payload(1, 12, 4), lookup("s"), drop()};
    auto changes = of("dynset");
    changes.name = "s";
    auto set = withSet({}, {looksUp});
    EXPECT_TRUE(steady(set));
    // By packets to the host.
    set.chains.push_back(baseOf("input", NF_INET_LOCAL_IN, 0, {{payload(1, 12, 4), changes}}));
    EXPECT_EQ(reasonOf(set), "packets change s");
    set.chains[1].rules[0].expressions[1].name = "other";
    EXPECT_TRUE(steady(set));
    set.chains[1].rules[0].expressions[1].understood = false;
    EXPECT_EQ(reasonOf(set), "packets change s") << "perhaps this one";
}

TEST(GoesOn, BehindASetThatIsTurnedAroundAndHasAllOthers) {
    model::NamedSet set;
    set.flags = NFT_SET_ANONYMOUS;
    set.elements.list = {{{6}, {}}, {{}, {}}};
    auto isNot = lookup("s");
    isNot.operation = NFT_LOOKUP_F_INV;
    EXPECT_FALSE(
        judgedForward(withSet(set, {{meta(NFT_META_L4PROTO), isNot, of("limit"), drop()}})).steadyForTcp);
}

Expressions marking(std::uint8_t value) {
    return {immediate({value, 0, 0, 0}), writing(ct(NFT_CT_MARK))};
}
Expressions marking(std::uint32_t value, std::uint32_t mask) {
    xt_connmark_tginfo1 info{};
    info.mode = XT_CONNMARK_SET;
    info.ctmark = value;
    info.ctmask = mask;
    return {target("CONNMARK", 1, bytesOf(info))};
}

TEST(ConnectionsMarks, AreSteadyIfAllRulesSetThemTheSame) {
    const std::string reason = "another rule sets the connection's mark to something else";
    EXPECT_EQ(reasonOf(ruleSetOf({marking(1), marking(1)})), "");
    EXPECT_EQ(reasonOf(ruleSetOf({marking(1), marking(2)})), reason);
    EXPECT_EQ(reasonOf(ruleSetOf({marking(1, 0xff), marking(0x200, 0xff00)})), "");
    EXPECT_EQ(reasonOf(ruleSetOf({marking(1, 0xff), marking(0x200, 0xff01)})), reason);
    EXPECT_EQ(reasonOf(ruleSetOf({marking(1), {payload(1, 9, 1), cmp({6}), accept()}, marking(2)})), reason);
}

TEST(ConnectionsMarks, OfDifferentPlacesAndProtocols) {
    auto set = ruleSetOf({marking(1)});
    set.chains.push_back(
        baseOf("behind", NF_INET_POST_ROUTING, 0,
               {{meta(NFT_META_L4PROTO), cmp({17}), immediate({2, 0, 0, 0}), writing(ct(NFT_CT_MARK))}}));
    EXPECT_TRUE(judgedForward(set).steadyForTcp);
    EXPECT_FALSE(judgedForward(set).steadyForUdp);
    EXPECT_FALSE(judgedAt(set, RuleFamily::ip, NF_INET_POST_ROUTING).steadyForUdp);
    set.chains[1].family = RuleFamily::ip6;
    EXPECT_TRUE(steady(set));
}

/// The first packet that a rule marks comes with another mark than those after it.
TEST(ConnectionsMarks, AreLookedAtAsTheyComeWhereRulesSetThem) {
    const Names before{"the connection's mark as it comes"};
    const Expressions asks{ct(NFT_CT_MARK), cmp({1, 0, 0, 0}), drop()};
    xt_connmark_tginfo1 restored{};
    restored.mode = XT_CONNMARK_RESTORE;
    EXPECT_EQ(looksAt(asks), Names{});
    EXPECT_EQ(looksAt(marking(1)), Names{});
    for (const auto& rule : {asks, Expressions{match("connmark", 1), drop()},
                             Expressions{target("CONNMARK", 1, bytesOf(restored))}}) {
        auto set = ruleSetOf({rule, marking(1)});
        EXPECT_EQ(judgedForward(set).looksAt, before);
        set.chains.push_back(baseOf("behind", NF_INET_POST_ROUTING, 0, {marking(1)}));
        set.chains[0].rules.pop_back();
        EXPECT_EQ(judgedForward(set).looksAt, before);
        EXPECT_EQ(judgedAt(set, RuleFamily::ip, NF_INET_POST_ROUTING).looksAt, Names{});
    }
}

} // namespace
} // namespace tna::test
