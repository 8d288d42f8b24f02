// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tna::bench {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(BenchRules, OfAFirewallAreMetBeforeWhatAccepts) {
    const auto rules = ruleSetOf({.scenario = Scenario::firewall, .rules = 3});
    EXPECT_EQ(rules, "table inet tna_bench {\nchain forward {\n"
                     "type filter hook forward priority 0; policy drop;\n"
                     "ip saddr 198.18.0.0 drop\nudp dport 20001 drop\nip saddr 198.18.0.2 drop\n"
                     "ct state established,related accept\niifname \"d0\" accept\n}\n}\n");
    EXPECT_THAT(ruleSetOf({.scenario = Scenario::firewall6, .rules = 1}),
                HasSubstr("\nip6 saddr fd00:ffff::0:0 drop\n"));
    EXPECT_THAT(ruleSetOf({.scenario = Scenario::firewall, .tracking = Tracking::off}),
                Not(HasSubstr("ct state")));
}

TEST(BenchRules, ForwardAPortBeforeTheRoute) {
    EXPECT_THAT(ruleSetOf({.scenario = Scenario::forward}),
                HasSubstr("type nat hook prerouting priority -100;\n"
                          "ip daddr 10.1.0.3 udp dport 9 dnat ip to 10.2.0.2:2009\n}\n"));
    EXPECT_THAT(ruleSetOf({.scenario = Scenario::forward6}),
                HasSubstr("ip6 daddr fd00:1::3 udp dport 9 dnat ip6 to [fd00:2::2]:2009\n"));
    EXPECT_THAT(ruleSetOf({.scenario = Scenario::nat}), Not(HasSubstr("dnat")));
}

TEST(BenchRules, ThatChangeAreAChainOfTheirOwn) {
    const bench::Setup setup{.scenario = Scenario::firewall, .ruleChanges = 10};
    EXPECT_THAT(ruleSetOf(setup), HasSubstr("jump changes\nct state"));
    EXPECT_EQ(ruleChange(setup, 2), "flush chain inet tna_bench changes\n"
                                    "add rule inet tna_bench changes ip saddr 198.18.0.2 drop\n");
}

TEST(BenchRules, OfOthersAcceptWhatTheyDoNotName) {
    EXPECT_THAT(ruleSetOf({.scenario = Scenario::router}), IsEmpty());
    EXPECT_THAT(ruleSetOf({.scenario = Scenario::bridge, .rules = 1}),
                HasSubstr("priority 0;\nip saddr 198.18.0.0 drop\n}\n"));
}

} // namespace
} // namespace tna::bench
