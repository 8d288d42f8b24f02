// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/judge.hpp"
#include "introspect/rule_reader.hpp"
#include "support/command.hpp"
#include "support/namespace.hpp"

#include <gtest/gtest.h>
#include <linux/netfilter.h>
#include <optional>

namespace tna::test {

/// A network namespace of its own, entered, into which rule sets are loaded.
class Rules : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = cannotUseNamespaces(); !reason.empty())
            GTEST_SKIP() << reason;
        namespace_.emplace();
        scope_.emplace(namespace_->enter());
        if (command({"nft", "list", "tables"}).exitCode != 0)
            GTEST_SKIP() << "needs nft, and a kernel with nf_tables";
    }
    static void nft(const std::string& rules) {
        const auto done = command({"nft", rules});
        ASSERT_EQ(done.exitCode, 0) << rules << ": " << done.output;
    }
    /// What it is about are rules: where the kernel does not list what netfilter calls, that is connection
    /// tracking and nothing else.
    [[nodiscard]] static model::RuleSet read() {
        auto set = introspect::readRuleSet();
        EXPECT_TRUE(set) << (set ? "" : set.error().sentence());
        if (!set)
            return {};
        if (!set->functions) {
            set->functions.emplace();
            addTracking(*set, model::RuleFamily::ip, "ipv4_conntrack_in");
            addTracking(*set, model::RuleFamily::ip6, "ipv6_conntrack_in");
        }
        return std::move(*set);
    }
    [[nodiscard]] static assemble::JudgedHook judged(const model::RuleSet& set, model::RuleFamily packets,
                                                     std::uint32_t hook) {
        for (auto& one : assemble::judgeRules(set))
            if (one.packets == packets && one.hook == hook)
                return one;
        ADD_FAILURE() << "there is no such hook";
        return {};
    }

    std::optional<Namespace> namespace_;
    std::optional<NamespaceScope> scope_;

private:
    static void addTracking(model::RuleSet& set, model::RuleFamily family, const char* name) {
        set.functions->push_back({.family = family,
                                  .hook = NF_INET_PRE_ROUTING,
                                  .priority = -200,
                                  .function = name,
                                  .module = {},
                                  .ofTables = false,
                                  .program = 0});
    }
};

} // namespace tna::test
