// SPDX-License-Identifier: Apache-2.0
// What is read of the rule sets, while they stand still and while they do not.
#include "netns/rules/rules_fixture.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <linux/netfilter/nf_tables.h>
#include <thread>
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

/// The kernel counts a change before all of it is there: here elements come before a policy.
TEST_F(Reader, HalfOfAChangeIsNeverRead) {
    constexpr unsigned count = 20000;
    std::string elements;
    for (unsigned i = 0; i < count; ++i)
        elements += fmt::format("{}10.0.{}.{} : accept", i == 0 ? "" : ", ", i >> 8U, i & 0xffU);
    const auto path = [](const char* name) {
        return fmt::format("/tmp/tna-rules-{}-{}.nft", ::getpid(), name);
    };
    const std::string policy =
        "\ntable ip t {{ chain f {{ type filter hook forward priority 0; policy {}; }}\n}}\n";
    ASSERT_TRUE(writeFile(path("few"), "flush map ip t m" + fmt::format(fmt::runtime(policy), "accept")));
    ASSERT_TRUE(writeFile(path("many"), "add element ip t m { " + elements + " }" +
                                            fmt::format(fmt::runtime(policy), "drop")));
    nft("table ip t { map m { type ipv4_addr : verdict; } ; chain f { type filter hook forward priority 0; "
        "ip "
        "saddr vmap @m; } ; }");
    std::atomic<bool> done = false;
    std::thread changing([&] {
        const NamespaceScope scope(namespace_->enter());
        for (int i = 0; i < 24; ++i)
            (void)command({"nft", "-f", path(i % 2 == 0 ? "many" : "few")});
        done = true;
    });
    unsigned halves = 0, few = 0, many = 0;
    while (!done)
        if (const auto set = introspect::readRuleSet()) {
            const bool dropping = set->chains.at(0).policy == NF_DROP;
            halves += set->sets.at(0).elements.list.size() != (dropping ? count : 0);
            ++(dropping ? many : few);
        }
    changing.join();
    for (const char* name : {"few", "many"})
        std::remove(path(name).c_str());
    EXPECT_EQ(halves, 0U) << "of " << few << " and " << many;
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

/// Loads rules as a file; how long it takes to read and judge them is limited.
class Many : public Rules {
protected:
    void load(const std::string& rules) {
        const auto path = fmt::format("/tmp/tna-rules-{}.nft", ::getpid());
        ASSERT_TRUE(writeFile(path, rules));
        const auto loaded = command({"nft", "-f", path});
        std::remove(path.c_str());
        ASSERT_EQ(loaded.exitCode, 0) << loaded.output;
        const auto before = std::chrono::steady_clock::now();
        set_ = read();
        hook_ = judged(set_, RuleFamily::ip, NF_INET_FORWARD);
        const auto took = std::chrono::steady_clock::now() - before;
        const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(took).count();
        RecordProperty("milliseconds", static_cast<int>(milliseconds));
        EXPECT_LT(milliseconds, 10000);
    }
    /// One for each number.
    static std::string addressOf(unsigned i) {
        return fmt::format("10.{}.{}.{}", i >> 16U, i >> 8U & 0xffU, i & 0xffU);
    }

    model::RuleSet set_;
    assemble::JudgedHook hook_;
};

TEST_F(Many, RulesOfAnAccessList) {
    constexpr unsigned count = 10000;
    std::string rules = "table ip t { chain f { type filter hook forward priority 0; policy drop;\n";
    for (unsigned i = 0; i < count; ++i)
        rules += fmt::format("ip saddr {} tcp dport {} {}\n", addressOf(i), 1 + i % 1000,
                             i % 7 == 0 ? "drop" : "accept");
    load(rules + "limit rate 1/second log\n}\n}\n");
    ASSERT_EQ(set_.chains.at(0).rules.size(), count + 1);
    EXPECT_TRUE(hook_.steadyForTcp && hook_.steadyForUdp && hook_.looksAt.empty());
}

TEST_F(Many, RulesWithOneInTheWayAtTheEnd) {
    constexpr unsigned count = 20000;
    std::string rules = "table ip t { chain f { type filter hook forward priority 0;\n";
    for (unsigned i = 0; i < count; ++i)
        rules += fmt::format("ip saddr {} tcp dport {} accept\n", addressOf(i), 1 + i % 1000);
    load(rules + "udp dport 53 limit rate 1/second accept\n}\n}\n");
    ASSERT_EQ(set_.chains.at(0).rules.size(), count + 1);
    EXPECT_TRUE(hook_.steadyForTcp && !hook_.steadyForUdp);
    ASSERT_EQ(hook_.obstacles.size(), 1U);
    EXPECT_EQ(hook_.obstacles[0].handle, set_.chains[0].rules.back().handle);
}

TEST_F(Many, PrefixesInASet) {
    constexpr unsigned count = 100000;
    std::string rules = "table ip t { set s { type ipv4_addr; flags interval; elements = {\n";
    for (unsigned i = 0; i < count; ++i)
        rules += addressOf(i * 8) + "/30,\n";
    load(rules + "} } ; chain f { type filter hook forward priority 0; ip saddr @s drop; } ; }\n");
    ASSERT_EQ(set_.sets.size(), 1U);
    EXPECT_TRUE(set_.sets[0].elements.complete);
    EXPECT_TRUE(set_.sets[0].elements.list.empty()) << "nobody needs them";
    EXPECT_TRUE(hook_.steadyForTcp && hook_.steadyForUdp);
}

} // namespace
} // namespace tna::test
