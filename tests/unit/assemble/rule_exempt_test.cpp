// SPDX-License-Identifier: Apache-2.0
// Flows of packets that rules exempt from connection tracking: for which rules they may be learnt.
#include "assemble/rules/flows.hpp"
#include "rule_builder.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <limits>
#include <linux/in.h>
#include <linux/netfilter/nf_conntrack_common.h>
#include <linux/netfilter/xt_connmark.h>
#include <linux/netfilter/xt_conntrack.h>
#include <linux/netfilter/xt_CT.h>
#include <linux/netfilter/xt_state.h>

namespace tna::test {
namespace {

using Rule = std::vector<model::RuleExpression>;
constexpr std::int32_t raw = -300;

assemble::RuleJudgement judged(model::RuleSet set) {
    set.generation = 7;
    return assemble::judgeForFlows({.set = std::move(set), .ipv4 = {}, .ipv6 = {}}, {}, {});
}

model::RuleExpression state(std::uint32_t bits) {
    return cmp({static_cast<std::uint8_t>(bits), static_cast<std::uint8_t>(bits >> 8U), 0, 0});
}
Rule established() {
    return {ct(NFT_CT_STATE), state(NF_CT_STATE_BIT(IP_CT_ESTABLISHED)), accept()};
}
Rule untracked() {
    return {ct(NFT_CT_STATE), state(NF_CT_STATE_UNTRACKED_BIT), accept()};
}
/// To a port.
Rule exempts() {
    return {payload(2, 2, 2), cmp({0, 53}), of("notrack")};
}
/// These rules of forward, where others exempt packets at pre-routing.
model::RuleSet exempting(std::vector<Rule> rules, std::vector<Rule> early = {exempts()},
                         std::int32_t priority = raw) {
    auto set = ruleSetOf(std::move(rules));
    set.chains.push_back(baseOf("raw", NF_INET_PRE_ROUTING, priority, std::move(early)));
    return set;
}
/// Whether flows of UDP are steady: those that are tracked, those that are exempt.
std::string steady(model::RuleSet set) {
    const auto judgement = judged(std::move(set));
    return std::string(judgement.ipv4.udp ? "tracked " : "") + (judgement.ipv4.exemptUdp ? "exempt" : "");
}

TEST(ExemptRules, AreThoseThatExemptSomePackets) {
    const auto judgement = judged(exempting({established()}));
    EXPECT_TRUE(judgement.ipv4.exemptTcp && judgement.ipv4.exemptUdp);
    EXPECT_FALSE(judgement.ipv6.exemptTcp || judgement.ipv6.exemptUdp) << "each family by itself";
    EXPECT_EQ(steady(ruleSetOf({established()})), "tracked ");
    // By a rule for one protocol.
    Rule ofUdp{meta(NFT_META_L4PROTO), cmp({IPPROTO_UDP}), of("notrack")};
    const auto udp = judged(exempting({established()}, {ofUdp}));
    EXPECT_TRUE(udp.ipv4.exemptUdp && !udp.ipv4.exemptTcp);
    // Of segments in the middle of a flow, by none.
    Rule ofSyn{payload(2, 13, 1), bitwise({0x02}, {0}), cmp({0x02}), of("notrack")};
    EXPECT_FALSE(judged(exempting({established()}, {ofSyn})).ipv4.exemptTcp);
}

TEST(ExemptRules, OfIptables) {
    xt_ct_target_info told{};
    EXPECT_EQ(steady(exempting({established()}, {{target("CT", 0, bytesOf(told))}})), "tracked ");
    told.flags = XT_CT_NOTRACK;
    EXPECT_EQ(steady(exempting({established()}, {{target("CT", 0, bytesOf(told))}})), "tracked exempt");
    EXPECT_EQ(steady(exempting({established()}, {{target("NOTRACK", 0)}})), "tracked exempt");
}

/// What is behind a rule that accepts the ones, the others come to.
TEST(ExemptRules, JudgesEachKindByItself) {
    const Rule limited{of("limit"), accept()};
    EXPECT_EQ(steady(exempting({limited})), "");
    EXPECT_EQ(steady(exempting({established(), limited})), "tracked ");
    EXPECT_EQ(steady(exempting({untracked(), limited})), "exempt");
    EXPECT_EQ(steady(exempting({established(), untracked(), limited})), "tracked exempt");
    const Rule looks{payload(1, 8, 1), cmp({1}), drop()};
    EXPECT_EQ(steady(exempting({established(), looks})), "tracked ");
    EXPECT_EQ(steady(exempting({untracked(), looks})), "exempt");
    // In front of connection tracking, all are the same.
    EXPECT_EQ(steady(exempting({established(), untracked()}, {limited, exempts()})), "");
    EXPECT_EQ(steady(exempting({established(), untracked()}, {looks, exempts()})), "");
    EXPECT_EQ(steady(exempting({established()}, {{of("limit"), of("notrack")}})), "");
}

TEST(ExemptRules, SayWhatIsInTheWay) {
    const auto judgement = judged(exempting({established(), {of("limit"), accept()}}));
    ASSERT_EQ(judgement.obstacles.size(), 1U);
    const auto& rule = judgement.obstacles.front();
    EXPECT_TRUE(rule.exempt && rule.tcp && rule.udp);
    EXPECT_EQ(rule.handle, 2U);
    EXPECT_TRUE(rule.reason.starts_with("for packets that are exempt from connection tracking: "));
    EXPECT_EQ(rule.hint,
              "accept such packets before it: `nft insert rule ip t forward ct state untracked accept`");
    EXPECT_TRUE(judged(ruleSetOf({established(), {of("limit"), accept()}})).obstacles.empty());
    const auto looks = judged(exempting({established(), {payload(1, 8, 1), cmp({1}), drop()}}));
    EXPECT_TRUE(std::ranges::any_of(looks.obstacles, [](const auto& one) {
        return one.exempt && one.reason.find("TTL") != std::string::npos;
    }));
    auto set = exempting({established(), {of("limit"), accept()}});
    set.chains.front().name = "FORWARD";
    EXPECT_TRUE(judged(set).obstacles.front().hint.contains(
        "iptables -t t -I FORWARD -m conntrack --ctstate UNTRACKED"));
}

/// Only the state is known; whatever else rules ask a connection for ends them.
TEST(ExemptRules, HaveNoConnection) {
    const Rule limited{of("limit"), accept()};
    const auto passes = [&](Rule rule) {
        return steady(exempting({established(), std::move(rule), limited})) == "tracked exempt";
    };
    EXPECT_TRUE(passes({ct(NFT_CT_STATE), bitwise({0x40, 0, 0, 0}, {0, 0, 0, 0}),
                        cmp({0, 0, 0, 0}, NFT_CMP_NEQ), accept()}));
    EXPECT_FALSE(passes({ct(NFT_CT_STATE), state(NF_CT_STATE_INVALID_BIT), accept()}));
    const auto isHarmless = [&](Rule rule) {
        return steady(exempting({established(), std::move(rule)})) == "tracked exempt";
    };
    EXPECT_TRUE(isHarmless({ct(NFT_CT_STATE), state(NF_CT_STATE_BIT(IP_CT_NEW)), of("limit"), accept()}));
    EXPECT_TRUE(isHarmless({ct(NFT_CT_PKTS), cmp({5}, NFT_CMP_GT), accept()}));
    EXPECT_TRUE(isHarmless({ct(NFT_CT_MARK), cmp({7, 0, 0, 0}), of("limit"), accept()}));
    EXPECT_TRUE(isHarmless({writing(ct(NFT_CT_LABELS))}));
    EXPECT_TRUE(isHarmless({of("flow_offload")}));
    EXPECT_FALSE(isHarmless({writing(meta(NFT_META_NFTRACE))}));
    EXPECT_FALSE(isHarmless({of("limit"), accept()}));
}

TEST(ExemptRules, HaveNoConnectionForIptablesEither) {
    const Rule limited{of("limit"), accept()};
    const auto passes = [&](model::RuleExpression match) {
        return steady(exempting({established(), {std::move(match), accept()}, limited})) == "tracked exempt";
    };
    xt_conntrack_mtinfo3 told{};
    told.match_flags = XT_CONNTRACK_STATE;
    told.state_mask = XT_CONNTRACK_STATE_UNTRACKED;
    EXPECT_TRUE(passes(match("conntrack", 3, bytesOf(told))));
    told.match_flags |= XT_CONNTRACK_PROTO | XT_CONNTRACK_EXPIRES; // of what has a connection only
    EXPECT_TRUE(passes(match("conntrack", 3, bytesOf(told))));
    told.match_flags = XT_CONNTRACK_STATE;
    told.state_mask = XT_CONNTRACK_STATE_INVALID | XT_CONNTRACK_STATE_SNAT;
    EXPECT_FALSE(passes(match("conntrack", 3, bytesOf(told))));
    told.invert_flags = XT_CONNTRACK_STATE;
    EXPECT_TRUE(passes(match("conntrack", 3, bytesOf(told))));
    xt_state_info states{.statemask = XT_STATE_UNTRACKED};
    EXPECT_TRUE(passes(match("state", 0, bytesOf(states))));
    states.statemask = XT_STATE_INVALID;
    EXPECT_FALSE(passes(match("state", 0, bytesOf(states))));
    // Rules that ask for more than there is are passed over, and so are those that set a mark.
    told = {};
    told.match_flags = XT_CONNTRACK_PROTO;
    const auto never = [&](model::RuleExpression match) {
        return steady(exempting({established(), {std::move(match), of("limit"), accept()}})) ==
               "tracked exempt";
    };
    EXPECT_TRUE(never(match("conntrack", 3, bytesOf(told))));
    EXPECT_TRUE(never(match("connmark", 1, bytesOf(xt_connmark_mtinfo1{.mark = 7}))));
    EXPECT_FALSE(never(match("comment", 0)));
    const xt_connmark_tginfo1 saves{.ctmask = ~0U, .nfmask = ~0U, .mode = XT_CONNMARK_SAVE};
    EXPECT_EQ(steady(exempting({established(), {target("CONNMARK", 1, bytesOf(saves))}})), "tracked exempt");
    EXPECT_EQ(steady(exempting({{target("CONNMARK", 1, bytesOf(saves))}})), "exempt");
}

/// What connection tracking has called invalid looks the same then, and the next packet may not be.
TEST(ExemptRules, AreNotThoseBehindConnectionTracking) {
    EXPECT_EQ(steady(exempting({established()}, {exempts()}, -200)), "tracked ");
    EXPECT_EQ(steady(exempting({established(), exempts()})), "tracked ");
    auto late = exempting({established()});
    late.chains.push_back(baseOf("late", NF_INET_PRE_ROUTING, -150, {exempts()}));
    EXPECT_EQ(steady(late), "tracked ");
    EXPECT_TRUE(std::ranges::any_of(judged(late).obstacles, [](const auto& one) {
        return one.exempt && one.chain == "late" && one.handle == 1;
    }));
    late.chains.back().priority = -200; // before or behind connection tracking
    EXPECT_EQ(steady(late), "tracked ");
    late.chains.back().priority = -201;
    EXPECT_EQ(steady(late), "tracked exempt");
    late.chains.back().priority = -150;
    late.chains.back().rules.front().expressions.insert(late.chains.back().rules.front().expressions.begin(),
                                                        {meta(NFT_META_L4PROTO), cmp({IPPROTO_TCP})});
    EXPECT_EQ(steady(late), "tracked exempt") << "of TCP only";
    EXPECT_FALSE(judged(late).ipv4.exemptTcp);
    // Nor those that only what is invalid comes to.
    EXPECT_EQ(
        steady(exempting(
            {untracked(), established(), {ct(NFT_CT_STATE), state(NF_CT_STATE_INVALID_BIT), of("notrack")}})),
        "tracked ");
}

TEST(ExemptRules, WhereFunctionsAreNotKnown) {
    auto set = exempting({established()});
    set.functions->push_back({.family = model::RuleFamily::ip,
                              .hook = NF_INET_FORWARD,
                              .priority = 5,
                              .function = "someone",
                              .module = {},
                              .ofTables = false,
                              .program = 0});
    EXPECT_EQ(steady(set), "");
    set.functions->pop_back();
    set.legacyTables = {"ip filter"};
    EXPECT_EQ(steady(set), "");
    set.legacyTables.clear();
    set.functions->push_back({.family = model::RuleFamily::ip,
                              .hook = NF_INET_POST_ROUTING,
                              .priority = std::numeric_limits<std::int32_t>::max(),
                              .function = "nf_hook_run_bpf",
                              .module = {},
                              .ofTables = true,
                              .program = 0});
    EXPECT_EQ(steady(set), "");
}

TEST(ExemptRules, WhereBridgesTrackConnections) {
    auto set = exempting({established()});
    EXPECT_TRUE(judged(set).ipv4.exemptTcp);
    set.chains.push_back(baseOf("bridged", NF_INET_FORWARD, 0, {established()}));
    set.chains.back().family = model::RuleFamily::bridge;
    EXPECT_FALSE(judged(set).ipv4.exemptTcp);
}

/// Of a connection that is tracked, no segment is exempt, if the rules ask for what is the same in all.
TEST(ExemptRules, DoNotMaskInvalidPackets) {
    const auto becomes = [](Rule early) {
        auto set =
            exempting({{ct(NFT_CT_STATE), state(NF_CT_STATE_INVALID_BIT), drop()}}, {std::move(early)});
        for (auto& chain : set.chains)
            chain.family = model::RuleFamily::inet;
        const auto judgement = judged(set);
        return std::pair{judgement.ipv4.invalid, judgement.ipv6.invalid};
    };
    using enum assemble::Invalid;
    EXPECT_EQ(becomes(exempts()), (std::pair{dropped, dropped}));
    EXPECT_EQ(becomes({payload(2, 13, 1), bitwise({0x04}, {0}), cmp({0x04}), of("notrack")}),
              (std::pair{depends, depends}));
    // In front of it, there may be others.
    EXPECT_EQ(becomes({meta(NFT_META_NFPROTO), cmp({NFPROTO_IPV6}), payload(1, 6, 1), cmp({IPPROTO_TCP}),
                       of("notrack")}),
              (std::pair{dropped, depends}));
    EXPECT_EQ(becomes({meta(NFT_META_NFPROTO), cmp({NFPROTO_IPV6}), match("hbh", 0), of("notrack")}),
              (std::pair{dropped, depends}));
}

/// Whether packets are exempt does not matter then.
TEST(ExemptRules, WhereNobodyTracksConnections) {
    auto set = exempting({{payload(2, 2, 2), cmp({0, 53}), accept()}});
    set.functions->clear();
    EXPECT_EQ(steady(set), "tracked exempt");
    EXPECT_TRUE(judged(set).ipv4.untracked && judged(set).obstacles.empty());
    set.chains.back().rules.clear();
    EXPECT_EQ(steady(set), "tracked exempt");
}

/// Checksums that rules finish are those of exempt packets, too.
TEST(ExemptRules, ThatFinishChecksums) {
    EXPECT_FALSE(judged(exempting({established()})).ipv4.finishesUdp);
    EXPECT_TRUE(judged(exempting({established(), {target("CHECKSUM", 0)}})).ipv4.finishesUdp);
    EXPECT_FALSE(judged(ruleSetOf({established(), {target("CHECKSUM", 0)}})).ipv4.finishesUdp);
}

} // namespace
} // namespace tna::test
