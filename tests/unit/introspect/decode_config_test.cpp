// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_ip.hpp"
#include "introspect/decode_netfilter.hpp"
#include "introspect/decode_tc.hpp"
#include "message_builder.hpp"

#include <arpa/inet.h>
#include <array>
#include <gtest/gtest.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/netconf.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <linux/xfrm.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

using netlink::Message;

constexpr std::array<std::uint8_t, 4> own{10, 0, 0, 1};
constexpr std::array<std::uint8_t, 4> peer{10, 0, 0, 2};

MessageBuilder addressMessage() {
    MessageBuilder builder(RTM_NEWADDR, ifaddrmsg{AF_INET, 32, 0, RT_SCOPE_LINK, 3});
    builder.put(IFA_ADDRESS, peer).put(IFA_LOCAL, own);
    return builder;
}

TEST(DecodeAddress, TakesTheOwnAddressOfAPointToPointLink) {
    const auto bytes = addressMessage().bytes();
    const auto decoded = introspect::decodeAddress(firstMessage(bytes));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->ifindex, 3U);
    EXPECT_FALSE(decoded->removed);
    EXPECT_EQ(decoded->address, (model::Address{4, "10.0.0.1/32", "link"}));
}

TEST(DecodeAddress, RefusesAnAddressOfAnotherLength) {
    const auto bytes =
        MessageBuilder(RTM_NEWADDR, ifaddrmsg{AF_INET6, 64, 0, 0, 3}).put(IFA_ADDRESS, own).bytes();
    EXPECT_FALSE(introspect::decodeAddress(firstMessage(bytes)));
}

MessageBuilder ruleMessage() {
    fib_rule_hdr header{};
    header.family = AF_INET;
    header.src_len = 8;
    header.table = 252;
    header.action = FR_ACT_TO_TBL;
    header.flags = FIB_RULE_INVERT;
    MessageBuilder builder(RTM_NEWRULE, header);
    builder.put(FRA_SRC, own)
        .put(FRA_TABLE, std::uint32_t{1000})
        .put(FRA_PRIORITY, std::uint32_t{5})
        .text(FRA_OIFNAME, "eth1")
        .put(FRA_DPORT_RANGE, fib_rule_port_range{80, 81});
    return builder;
}

TEST(DecodeRule, PutsTheSelectorIntoWords) {
    const auto bytes = ruleMessage().bytes();
    const auto rule = introspect::decodeRule(firstMessage(bytes));
    ASSERT_TRUE(rule);
    EXPECT_EQ(*rule, (model::Rule{4, 5, 1000, "lookup", "not from 10.0.0.1/8 oif eth1 dport 80-81"}));
}

MessageBuilder routeMessage(std::uint32_t flags = 0) {
    rtmsg header{};
    header.rtm_family = AF_INET6;
    header.rtm_table = 254;
    header.rtm_type = RTN_BLACKHOLE;
    header.rtm_flags = flags;
    MessageBuilder builder(RTM_NEWROUTE, header);
    builder.put(RTA_TABLE, std::uint32_t{70000});
    return builder;
}

TEST(DecodeRoute, PrefersTheLongTableNumberAndLeavesOutCachedRoutes) {
    const auto bytes = routeMessage().bytes();
    const auto route = introspect::decodeRoute(firstMessage(bytes));
    ASSERT_TRUE(route);
    EXPECT_EQ(route->family, 6);
    EXPECT_EQ(route->table, 70000U);
    EXPECT_STREQ(route->type, "blackhole");
    const auto cached = routeMessage(RTM_F_CLONED).bytes();
    EXPECT_FALSE(introspect::decodeRoute(firstMessage(cached)));
}

MessageBuilder netconfMessage() {
    MessageBuilder builder(RTM_NEWNETCONF, netconfmsg{AF_INET});
    builder.put(NETCONFA_IFINDEX, std::int32_t{NETCONFA_IFINDEX_ALL})
        .put(NETCONFA_RP_FILTER, std::int32_t{2})
        .put(NETCONFA_IGNORE_ROUTES_WITH_LINKDOWN, std::int32_t{1});
    return builder;
}

TEST(DecodeNetconf, TellsWhatIsAbsentFromWhatIsZero) {
    const auto bytes = netconfMessage().bytes();
    const auto decoded = introspect::decodeNetconf(firstMessage(bytes));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->ifindex, NETCONFA_IFINDEX_ALL);
    EXPECT_FALSE(decoded->forwarding);
    EXPECT_EQ(decoded->reversePathFilter, 2);
    EXPECT_EQ(decoded->ignoreRoutesWithLinkDown, 1);
}

MessageBuilder neighbourMessage() {
    ndmsg header{};
    header.ndm_family = AF_BRIDGE;
    header.ndm_ifindex = 4;
    header.ndm_state = NUD_PERMANENT;
    MessageBuilder builder(RTM_NEWNEIGH, header);
    builder.put(NDA_MASTER, std::uint32_t{9});
    return builder;
}

TEST(DecodeNeighbour, NamesTheBridgeOfAnFdbEntry) {
    const auto bytes = neighbourMessage().bytes();
    const auto decoded = introspect::decodeNeighbour(firstMessage(bytes));
    ASSERT_TRUE(decoded);
    EXPECT_EQ(decoded->master, 9U);
    EXPECT_EQ(decoded->ifindex, 4U);
    EXPECT_EQ(decoded->state, NUD_PERMANENT);
}

MessageBuilder qdiscMessage() {
    tcmsg header{};
    header.tcm_ifindex = 4;
    header.tcm_handle = 0x10000;
    header.tcm_parent = TC_H_ROOT;
    MessageBuilder builder(RTM_NEWQDISC, header);
    builder.text(TCA_KIND, "tbf");
    return builder;
}

TEST(DecodeQdisc, ReadsKindAndPlace) {
    const auto bytes = qdiscMessage().bytes();
    EXPECT_EQ(introspect::decodeQdisc(firstMessage(bytes)), (model::Qdisc{4, 0x10000, TC_H_ROOT, "tbf", {}}));
}

TEST(DecodeQdisc, ReadsSettingsOfTheKindsThatMayBePlain) {
    tcmsg header{};
    header.tcm_ifindex = 4;
    MessageBuilder fq(RTM_NEWQDISC, header);
    fq.text(TCA_KIND, "fq").nest(TCA_OPTIONS, [](MessageBuilder& options) {
        options.put(TCA_FQ_PLIMIT, std::uint32_t{10})
            .put(TCA_FQ_FLOW_PLIMIT, std::uint32_t{11})
            .put(TCA_FQ_FLOW_MAX_RATE, std::uint32_t{12})
            .put(TCA_FQ_CE_THRESHOLD, std::uint32_t{13})
            .put(TCA_FQ_QUANTUM, std::uint32_t{14});
    });
    fq.nest(TCA_STAB, [](MessageBuilder&) {});
    const auto bytes = fq.bytes();
    const std::map<std::string, std::uint64_t> expected = {
        {"limit", 10}, {"flow_limit", 11}, {"maxrate", 12}, {"ce_threshold", 13}, {"stab", 1}};
    EXPECT_EQ(introspect::decodeQdisc(firstMessage(bytes))->settings, expected);

    MessageBuilder codel(RTM_NEWQDISC, header);
    codel.text(TCA_KIND, "fq_codel").nest(TCA_OPTIONS, [](MessageBuilder& options) {
        options.put(TCA_FQ_CODEL_LIMIT, std::uint32_t{20})
            .put(TCA_FQ_CODEL_MEMORY_LIMIT, std::uint32_t{21})
            .put(TCA_FQ_CODEL_CE_THRESHOLD, std::uint32_t{22});
    });
    const auto others = codel.bytes();
    const std::map<std::string, std::uint64_t> ofCodel = {
        {"limit", 20}, {"memory_limit", 21}, {"ce_threshold", 22}};
    EXPECT_EQ(introspect::decodeQdisc(firstMessage(others))->settings, ofCodel);
}

TEST(DecodeFlowtable, IsAHookAtTheIngressOfEachDevice) {
    MessageBuilder builder((NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_NEWFLOWTABLE, nfgenmsg{NFPROTO_INET, 0, 0});
    builder.text(NFTA_FLOWTABLE_TABLE, "t").text(NFTA_FLOWTABLE_NAME, "f");
    builder.nest(NFTA_FLOWTABLE_HOOK, [](auto& hook) {
        hook.nest(NFTA_FLOWTABLE_HOOK_DEVS, [](auto& devices) {
            devices.text(NFTA_DEVICE_NAME, "eth0").text(NFTA_DEVICE_NAME, "eth1");
        });
    });
    const auto bytes = builder.bytes();
    const auto message = firstMessage(bytes);
    EXPECT_TRUE(introspect::changesRules(message));
    EXPECT_EQ(introspect::decodeFlowtable(message),
              (std::vector<model::NetfilterHook>{{"netdev", "t", "f", "ingress", "eth0", true},
                                                 {"netdev", "t", "f", "ingress", "eth1", true}}));
}

MessageBuilder chainMessage() {
    MessageBuilder builder((NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_NEWCHAIN, nfgenmsg{NFPROTO_NETDEV, 0, 0});
    builder.text(NFTA_CHAIN_TABLE, "t").text(NFTA_CHAIN_NAME, "c").nest(NFTA_CHAIN_HOOK, [](auto& hook) {
        hook.put(NFTA_HOOK_HOOKNUM, htonl(1)).nest(NFTA_HOOK_DEVS, [](auto& devices) {
            devices.text(NFTA_DEVICE_NAME, "eth0").text(NFTA_DEVICE_NAME, "eth1");
        });
    });
    return builder;
}

TEST(DecodeChain, HasAHookForEachDevice) {
    const auto bytes = chainMessage().bytes();
    const auto hooks = introspect::decodeChain(firstMessage(bytes));
    const std::vector<model::NetfilterHook> expected{{"netdev", "t", "c", "egress", "eth0"},
                                                     {"netdev", "t", "c", "egress", "eth1"}};
    EXPECT_EQ(hooks, expected);
}

TEST(DecodeChain, HasNoHookForAChainThatIsOnlyJumpedTo) {
    const auto bytes =
        MessageBuilder((NFNL_SUBSYS_NFTABLES << 8) | NFT_MSG_NEWCHAIN, nfgenmsg{NFPROTO_IPV4, 0, 0})
            .text(NFTA_CHAIN_NAME, "c")
            .bytes();
    EXPECT_EQ(introspect::decodeChain(firstMessage(bytes)), std::vector<model::NetfilterHook>{});
}

TEST(ChangesRules, IsFalseForElementsOfSets) {
    const auto type = [](int message) {
        return MessageBuilder(static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8) | message), nfgenmsg{})
            .bytes();
    };
    const auto element = type(NFT_MSG_NEWSETELEM);
    const auto rule = type(NFT_MSG_NEWRULE);
    EXPECT_FALSE(introspect::changesRules(firstMessage(element)));
    EXPECT_TRUE(introspect::changesRules(firstMessage(rule)));
}

MessageBuilder policyMessage() {
    MessageBuilder builder(XFRM_MSG_NEWSPDINFO, std::uint32_t{0});
    builder.put(XFRMA_SPD_INFO, xfrmu_spdinfo{1, 2, 3, 0, 0, 4});
    return builder;
}

TEST(DecodePolicyCount, AddsAllDirections) {
    const auto bytes = policyMessage().bytes();
    EXPECT_EQ(introspect::decodePolicyCount(firstMessage(bytes)), 10U);
}

TEST(DecodeConfig, SurvivesEveryMutilationOfEveryMessage) {
    const std::array builders{addressMessage(),   ruleMessage(),  routeMessage(), netconfMessage(),
                              neighbourMessage(), qdiscMessage(), chainMessage(), policyMessage()};
    for (const auto& builder : builders) {
        unsigned tried = 0;
        decodeEveryMutilation(builder, [&](const Message& message) {
            ++tried;
            const auto address = introspect::decodeAddress(message);
            EXPECT_TRUE(!address || !address->address.prefix.empty());
            const auto rule = introspect::decodeRule(message);
            EXPECT_TRUE(!rule || rule->family == 4 || rule->family == 6);
            const auto route = introspect::decodeRoute(message);
            EXPECT_TRUE(!route || route->type != nullptr);
            const auto netconf = introspect::decodeNetconf(message);
            EXPECT_TRUE(!netconf || netconf->ifindex != 0);
            const auto neighbour = introspect::decodeNeighbour(message);
            EXPECT_TRUE(!neighbour || neighbour->ifindex != 0);
            const auto qdisc = introspect::decodeQdisc(message);
            EXPECT_TRUE(!qdisc || !qdisc->kind.empty());
            [[maybe_unused]] const auto filter = introspect::decodeFilter(message);
            [[maybe_unused]] const auto chain = introspect::decodeChain(message);
            [[maybe_unused]] const auto flowtable = introspect::decodeFlowtable(message);
            [[maybe_unused]] const auto policies = introspect::decodePolicyCount(message);
        });
        EXPECT_GT(tried, builder.size());
    }
}

} // namespace
} // namespace tna::test
