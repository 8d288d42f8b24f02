// SPDX-License-Identifier: Apache-2.0
// What is read of the rule sets, while they stand still and while they do not.
#include "netns/rules/rules_fixture.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <linux/netfilter/nf_tables.h>
#include <unistd.h>

namespace tna::test {
namespace {

using model::RuleFamily;

class Reader : public Rules {};

TEST_F(Reader, FindsTablesChainsRulesSetsAndObjects) {
    nft("table inet t { counter c { } ; set s { type ipv4_addr; flags timeout; } ;"
        "chain f { type filter hook forward priority 5; policy drop; ip saddr @s accept comment \"known\";"
        "counter name c; } ; chain other { } ; }");
    const auto set = read();
    ASSERT_EQ(set.tables.size(), 1U);
    EXPECT_EQ(set.tables[0], (model::RuleTable{RuleFamily::inet, "t", 0}));
    ASSERT_EQ(set.chains.size(), 2U);
    const auto& chain = set.chains[0];
    EXPECT_TRUE(chain.base);
    EXPECT_EQ(chain.hook, static_cast<std::uint32_t>(NF_INET_FORWARD));
    EXPECT_EQ(chain.priority, 5);
    EXPECT_EQ(chain.policy, static_cast<std::uint32_t>(NF_DROP));
    EXPECT_EQ(chain.type, "filter");
    ASSERT_EQ(chain.rules.size(), 2U);
    EXPECT_EQ(chain.rules[0].comment, "known");
    EXPECT_NE(chain.rules[0].handle, 0U);
    for (const auto& rule : chain.rules)
        for (const auto& expression : rule.expressions)
            EXPECT_TRUE(expression.understood) << expression.kind;
    EXPECT_FALSE(set.chains[1].base);
    ASSERT_EQ(set.sets.size(), 1U);
    EXPECT_EQ(set.sets[0].flags, static_cast<std::uint32_t>(NFT_SET_TIMEOUT));
    ASSERT_EQ(set.objects.size(), 1U);
    EXPECT_EQ(set.objects[0], (model::RuleObject{RuleFamily::inet, "t", "c", NFT_OBJECT_COUNTER}));
    EXPECT_GT(set.generation, 0U);
}

TEST_F(Reader, EmptyNamespaceHasNoRules) {
    const auto set = read();
    EXPECT_TRUE(set.tables.empty());
    for (const auto& hook : assemble::judgeRules(set))
        EXPECT_TRUE(hook.steadyForTcp && hook.steadyForUdp && hook.chains.empty());
}

TEST_F(Reader, RulesThatChangeMeanwhileAreReadAgain) {
    nft("table ip t { chain f { type filter hook forward priority 0; } ; }");
    int changes = 0;
    const auto set = introspect::readRuleSet({}, [&] {
        if (changes++ < 2)
            nft(fmt::format("add rule ip t f meta mark {}", changes));
    });
    ASSERT_TRUE(set);
    EXPECT_EQ(changes, 3);
    ASSERT_EQ(set->chains.size(), 1U);
    EXPECT_EQ(set->chains[0].rules.size(), 2U);
}

TEST_F(Reader, RulesThatNeverRestAreNotKnown) {
    nft("table ip t { chain f { type filter hook forward priority 0; } ; }");
    int changes = 0;
    const auto set =
        introspect::readRuleSet({}, [&] { nft(fmt::format("add rule ip t f meta mark {}", ++changes)); });
    ASSERT_FALSE(set);
    EXPECT_EQ(changes, introspect::RuleLimits{}.attempts);
    EXPECT_TRUE(set.error().what.contains("changed while they were read")) << set.error().sentence();
}

TEST_F(Reader, MoreThanTheLimitIsAnError) {
    nft("table ip t { chain f { type filter hook forward priority 0; meta mark 1; meta mark 2; meta mark 3; "
        "} ;"
        "chain g { meta mark { 1, 2, 3 } accept; } ; }");
    EXPECT_TRUE(introspect::readRuleSet({.rules = 4}));
    for (const auto& limits :
         {introspect::RuleLimits{.rules = 3}, introspect::RuleLimits{.expressions = 6},
          introspect::RuleLimits{.elements = 2}, introspect::RuleLimits{.keptElements = 2}}) {
        const auto set = introspect::readRuleSet(limits);
        ASSERT_FALSE(set);
        EXPECT_TRUE(set.error().what.contains("there are more than")) << set.error().sentence();
    }
}

TEST_F(Reader, ManyRulesAreReadInLittleTime) {
    constexpr unsigned count = 20000;
    std::string rules = "table ip t { chain f { type filter hook forward priority 0; policy drop;\n";
    for (unsigned i = 0; i < count; ++i)
        rules += fmt::format("ip saddr 10.{}.{}.{} tcp dport {} accept\n", i >> 16U, i >> 8U & 0xffU,
                             i & 0xffU, 1 + i % 1000);
    rules += "}\n}\n";
    const auto path = fmt::format("/tmp/tna-rules-{}.nft", ::getpid());
    ASSERT_TRUE(writeFile(path, rules));
    const auto loaded = command({"nft", "-f", path});
    std::remove(path.c_str());
    ASSERT_EQ(loaded.exitCode, 0) << loaded.output;
    const auto before = std::chrono::steady_clock::now();
    const auto set = read();
    const auto hook = judged(set, RuleFamily::ip, NF_INET_FORWARD);
    const auto took = std::chrono::steady_clock::now() - before;
    ASSERT_EQ(set.chains.at(0).rules.size(), count);
    EXPECT_TRUE(hook.steadyForTcp && hook.steadyForUdp);
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
    RecordProperty("milliseconds", static_cast<int>(milliseconds));
    EXPECT_LT(milliseconds, 10000);
}

} // namespace
} // namespace tna::test
