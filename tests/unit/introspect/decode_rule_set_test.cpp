// SPDX-License-Identifier: Apache-2.0
// Messages about rule sets: recorded ones, those of a kernel that knows more than the decoder, and broken
// ones.
#include "base/file.hpp"
#include "introspect/decode_expression.hpp"
#include "introspect/decode_rule_set.hpp"
#include "message_builder.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nf_tables_compat.h>
#include <linux/netfilter/nfnetlink.h>
#include <map>
#include <set>
#include <sstream>

namespace tna::test {
namespace {

using model::RuleFamily;
using Bytes = std::vector<std::byte>;

/// Messages by what was asked for.
std::map<std::string, std::vector<Bytes>> recorded(const char* name) {
    std::istringstream file(readFile(fmt::format("{}/{}", TNA_RECORDED, name)).value());
    std::map<std::string, std::vector<Bytes>> all;
    std::string line;
    std::string what;
    while (std::getline(file, line)) {
        if (line.starts_with("# ")) {
            what = line.substr(2);
            continue;
        }
        Bytes bytes;
        for (std::size_t i = 0; i + 1 < line.size(); i += 2)
            bytes.push_back(static_cast<std::byte>(std::stoi(line.substr(i, 2), nullptr, 16)));
        all[what].push_back(std::move(bytes));
    }
    return all;
}

std::vector<introspect::PlacedRule> rulesOf(const std::vector<Bytes>& messages) {
    std::vector<introspect::PlacedRule> rules;
    for (const auto& bytes : messages) {
        auto rule = introspect::decodeFilterRule(firstMessage(bytes));
        EXPECT_TRUE(rule);
        if (rule)
            rules.push_back(std::move(*rule));
    }
    return rules;
}

TEST(RecordedRules, AreUnderstood) {
    for (const auto& [file, count] : {std::pair{"inet.hex", 20U}, {"iptables.hex", 8U}}) {
        const auto rules = rulesOf(recorded(file)["rules"]);
        EXPECT_EQ(rules.size(), count) << file;
        for (const auto& placed : rules)
            for (const auto& expression : placed.rule.expressions)
                EXPECT_TRUE(expression.understood) << file << ": " << expression.kind;
    }
}

TEST(RecordedRules, HaveTheExpressionsThatWereAskedFor) {
    const auto rules = rulesOf(recorded("inet.hex")["rules"]);
    ASSERT_FALSE(rules.empty());
    EXPECT_EQ(rules[0].table, "t");
    EXPECT_EQ(rules[0].chain, "onward");
    EXPECT_EQ(rules[0].family, RuleFamily::inet);
    std::set<std::string> kinds;
    for (const auto& placed : rules)
        for (const auto& expression : placed.rule.expressions)
            kinds.insert(expression.kind);
    EXPECT_EQ(kinds, (std::set<std::string>{"bitwise", "byteorder", "cmp", "counter", "ct", "dynset", "fib",
                                            "hash", "immediate", "limit", "log", "lookup", "meta", "objref",
                                            "payload", "reject", "rt"}));
    // ct state vmap { ... }
    ASSERT_EQ(rules[0].rule.expressions.size(), 2U);
    EXPECT_EQ(rules[0].rule.expressions[0].key, static_cast<std::uint32_t>(NFT_CT_STATE));
    const auto& lookup = rules[0].rule.expressions[1];
    EXPECT_TRUE(lookup.name.starts_with("__map"));
    EXPECT_TRUE(lookup.writes);
    EXPECT_EQ(lookup.destination, static_cast<std::uint32_t>(NFT_REG_VERDICT));
    // meta l4proto { tcp, udp } th dport 1-1024 counter accept comment "ports"
    EXPECT_EQ(rules[1].rule.comment, "ports");
    EXPECT_EQ(rules[1].rule.expressions.back().verdict, (model::RuleVerdict{NF_ACCEPT, ""}));
    EXPECT_EQ(rules.back().rule.expressions.back().verdict, (model::RuleVerdict{NFT_GOTO, "other"}));
}

TEST(RecordedRules, OfIptablesHaveMatchesAndTargets) {
    const auto rules = rulesOf(recorded("iptables.hex")["rules"]);
    std::set<std::string> names;
    for (const auto& placed : rules)
        for (const auto& expression : placed.rule.expressions)
            if (expression.kind == "match" || expression.kind == "target") {
                names.insert(fmt::format("{} {}", expression.name, expression.key));
                EXPECT_FALSE(expression.data.empty()) << expression.name;
            }
    EXPECT_EQ(names, (std::set<std::string>{"CONNMARK 2", "CT 2", "LOG 0", "REJECT 0", "TCPMSS 0",
                                            "comment 0", "conntrack 3", "multiport 1"}));
}

TEST(RecordedTables, ChainsAndObjectsAreRead) {
    auto all = recorded("inet.hex");
    EXPECT_TRUE(introspect::decodeGeneration(firstMessage(all["generation"].at(0))));
    EXPECT_EQ(introspect::decodeTable(firstMessage(all["tables"].at(0))),
              (model::RuleTable{RuleFamily::inet, "t", 0}));
    ASSERT_EQ(all["chains"].size(), 2U);
    const auto chain = introspect::decodeRuleChain(firstMessage(all["chains"][1])).value();
    EXPECT_TRUE(chain.base && chain.understood);
    EXPECT_EQ(chain.priority, 5);
    EXPECT_EQ(chain.hook, static_cast<std::uint32_t>(NF_INET_FORWARD));
    EXPECT_EQ(chain.policy, static_cast<std::uint32_t>(NF_DROP));
    EXPECT_EQ(chain.type, "filter");
    const auto other = introspect::decodeRuleChain(firstMessage(all["chains"][0])).value();
    EXPECT_TRUE(!other.base && other.understood);
    std::set<std::uint32_t> types;
    for (const auto& bytes : all["objects"])
        types.insert(introspect::decodeObject(firstMessage(bytes)).value().type);
    EXPECT_EQ(types, (std::set<std::uint32_t>{NFT_OBJECT_COUNTER, NFT_OBJECT_QUOTA}));
}

TEST(RecordedSets, AreReadWithTheirElements) {
    auto all = recorded("inet.hex");
    std::map<std::string, model::NamedSet> sets;
    for (const auto& bytes : all["sets"]) {
        auto set = introspect::decodeSet(firstMessage(bytes)).value();
        EXPECT_TRUE(set.understood) << set.name;
        for (const auto& elements : all["elements of " + set.name])
            EXPECT_TRUE(introspect::decodeElements(firstMessage(elements), true, set.elements)) << set.name;
        sets.emplace(set.name, std::move(set));
    }
    EXPECT_EQ(sets.at("bad").flags, static_cast<std::uint32_t>(NFT_SET_INTERVAL));
    EXPECT_EQ(sets.at("timed").flags, static_cast<std::uint32_t>(NFT_SET_TIMEOUT));
    EXPECT_EQ(sets.at("seen").flags, static_cast<std::uint32_t>(NFT_SET_EVAL));
    EXPECT_EQ(sets.at("counted").expressions, std::vector<std::string>{"counter"});
    EXPECT_FALSE(sets.at("counted").elements.expressions);
    EXPECT_EQ(sets.at("limited").expressions, std::vector<std::string>{"limit"});
    EXPECT_TRUE(sets.at("limited").elements.expressions);
    const auto& ways = sets.at("ways");
    EXPECT_EQ(ways.dataType, static_cast<std::uint32_t>(NFT_DATA_VERDICT));
    ASSERT_EQ(ways.elements.list.size(), 3U);
    std::map<std::vector<std::uint8_t>, model::RuleVerdict> verdicts;
    for (const auto& element : ways.elements.list)
        verdicts[element.key] = element.verdict.value();
    EXPECT_EQ(verdicts,
              (std::map<std::vector<std::uint8_t>, model::RuleVerdict>{{{192, 0, 2, 5}, {NF_ACCEPT, ""}},
                                                                       {{192, 0, 2, 6}, {NFT_JUMP, "other"}},
                                                                       {{}, {NFT_CONTINUE, ""}}}));
}

TEST(RecordedRules, CutAnywhereAreNoneOrNoMore) {
    for (const auto* file : {"inet.hex", "iptables.hex"})
        for (const auto& [what, messages] : recorded(file))
            for (const auto& whole : messages)
                for (std::size_t size = sizeof(nlmsghdr) + sizeof(nfgenmsg); size < whole.size(); ++size) {
                    Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
                    const auto length = static_cast<std::uint32_t>(size);
                    std::memcpy(cut.data(), &length, sizeof length);
                    const auto message = firstMessage(cut);
                    model::RuleElements elements;
                    (void)introspect::decodeRuleChain(message);
                    (void)introspect::decodeSet(message);
                    (void)introspect::decodeElements(message, true, elements);
                    if (const auto rule = introspect::decodeFilterRule(message); rule && what == "rules") {
                        EXPECT_LE(rule->rule.expressions.size(), rulesOf({whole})[0].rule.expressions.size());
                    }
                }
}

/// The attributes of an expression of that kind.
using Fill = std::function<void(MessageBuilder&)>;
model::RuleExpression expressionOf(const char* kind, const Fill& fill) {
    MessageBuilder builder(NFT_MSG_NEWRULE, nfgenmsg{NFPROTO_IPV4, NFNETLINK_V0, 0});
    builder.text(NFTA_EXPR_NAME, kind).nest(NFTA_EXPR_DATA, fill);
    const auto bytes = builder.bytes();
    return introspect::decodeExpression(firstMessage(bytes).attributes<nfgenmsg>().value());
}
MessageBuilder& number(MessageBuilder& builder, std::uint16_t type, std::uint32_t value) {
    return builder.put(type, htonl(value));
}

struct Newer {
    const char* kind;
    Fill known;
    Fill newer; ///< and this besides
};

TEST(NewerKernels, ExpressionsWithSomethingThatIsNotKnownAreNotUnderstood) {
    const auto attribute = [](std::uint16_t type) {
        return [type](MessageBuilder& to) { number(to, type, 1); };
    };
    const std::vector<Newer> rows{
        {"meta", [](auto& to) { number(number(to, NFTA_META_DREG, 1), NFTA_META_KEY, 1); },
         attribute(NFTA_META_SREG + 1)},
        {"ct", [](auto& to) { number(number(to, NFTA_CT_DREG, 1), NFTA_CT_KEY, 1); },
         attribute(NFTA_CT_SREG + 1)},
        {"payload",
         [](auto& to) {
             for (const auto type :
                  {NFTA_PAYLOAD_DREG, NFTA_PAYLOAD_BASE, NFTA_PAYLOAD_OFFSET, NFTA_PAYLOAD_LEN})
                 number(to, type, 1);
         },
         attribute(NFTA_PAYLOAD_CSUM_FLAGS + 1)},
        {"lookup", [](auto& to) { number(to.text(NFTA_LOOKUP_SET, "s"), NFTA_LOOKUP_SREG, 1); },
         [](auto& to) { number(to, NFTA_LOOKUP_FLAGS, 2); }},
        {"hash", [](auto& to) { number(to, NFTA_HASH_DREG, 1); },
         [](auto& to) { number(to, NFTA_HASH_TYPE, 2); }},
        {"fib", [](auto& to) { number(number(to, NFTA_FIB_DREG, 1), NFTA_FIB_FLAGS, 1); },
         [](auto& to) { number(to, NFTA_FIB_RESULT, 4); }},
        {"fib", [](auto& to) { number(number(to, NFTA_FIB_DREG, 1), NFTA_FIB_RESULT, 1); },
         [](auto& to) { number(to, NFTA_FIB_FLAGS, 0x40); }},
        {"exthdr",
         [](auto& to) {
             number(number(to, NFTA_EXTHDR_DREG, 1), NFTA_EXTHDR_LEN, 1)
                 .put(NFTA_EXTHDR_TYPE, std::uint8_t{44});
         },
         [](auto& to) { number(to, NFTA_EXTHDR_FLAGS, 2); }},
        {"match", [](auto& to) { number(to.text(NFTA_MATCH_NAME, "mark"), NFTA_MATCH_REV, 1); },
         attribute(NFTA_MATCH_INFO + 1)}};
    for (const auto& row : rows) {
        const bool needsBoth = std::string_view(row.kind) == "hash" || std::string_view(row.kind) == "fib";
        EXPECT_NE(expressionOf(row.kind, row.known).understood, needsBoth) << row.kind;
        EXPECT_FALSE(expressionOf(row.kind, [&](auto& to) { row.known(to), row.newer(to); }).understood)
            << row.kind;
    }
    for (const std::uint32_t operation : {0U, 5U, 6U}) {
        const auto compared = expressionOf("cmp", [&](auto& to) {
            number(number(to, NFTA_CMP_SREG, 1), NFTA_CMP_OP, operation);
            to.nest(NFTA_CMP_DATA, [](auto& data) { number(data, NFTA_DATA_VALUE, 1); });
        });
        EXPECT_EQ(compared.understood, operation <= NFT_CMP_GTE) << operation;
    }
}

TEST(NewerKernels, NumbersOfTheWrongSizeAreNotUnderstood) {
    EXPECT_FALSE(expressionOf("meta", [](auto& to) {
                     number(to, NFTA_META_DREG, 1).put(NFTA_META_KEY, std::uint16_t{1});
                 }).understood);
}

TEST(NewerKernels, RulesWithAnAttributeThatIsNotKnownAreNotUnderstood) {
    const auto understood = [](std::uint16_t attribute) {
        MessageBuilder builder(NFT_MSG_NEWRULE, nfgenmsg{NFPROTO_IPV4, NFNETLINK_V0, 0});
        builder.text(NFTA_RULE_TABLE, "t").text(NFTA_RULE_CHAIN, "c");
        builder.nest(NFTA_RULE_EXPRESSIONS, [](auto&) {});
        number(builder, attribute, 1);
        const auto bytes = builder.bytes();
        const auto rule = introspect::decodeFilterRule(firstMessage(bytes)).value().rule;
        return rule.expressions.empty() || rule.expressions[0].understood;
    };
    EXPECT_TRUE(understood(NFTA_RULE_CHAIN_ID));
    EXPECT_FALSE(understood(NFTA_RULE_CHAIN_ID + 1));
}

std::optional<model::RuleChain> chainWith(const Fill& fill, const Fill& hook) {
    MessageBuilder builder(NFT_MSG_NEWCHAIN, nfgenmsg{NFPROTO_IPV4, NFNETLINK_V0, 0});
    builder.text(NFTA_CHAIN_TABLE, "t").text(NFTA_CHAIN_NAME, "c").text(NFTA_CHAIN_TYPE, "filter");
    fill(builder);
    builder.nest(NFTA_CHAIN_HOOK, hook);
    const auto bytes = builder.bytes();
    return introspect::decodeRuleChain(firstMessage(bytes));
}

TEST(NewerKernels, ChainsWithSomethingThatIsNotKnownAreNotUnderstood) {
    const Fill nothing = [](auto&) {};
    const Fill hook = [](auto& to) { number(number(to, NFTA_HOOK_HOOKNUM, 2), NFTA_HOOK_PRIORITY, 0); };
    EXPECT_TRUE(chainWith(nothing, hook).value().understood);
    EXPECT_FALSE(chainWith([](auto& to) { number(to, NFTA_CHAIN_FLAGS, 8); }, hook).value().understood);
    EXPECT_FALSE(
        chainWith([](auto& to) { number(to, NFTA_CHAIN_USERDATA + 1, 1); }, hook).value().understood);
    EXPECT_FALSE(chainWith(nothing, [&](auto& to) { hook(to), number(to, NFTA_HOOK_DEVS + 1, 1); })
                     .value()
                     .understood);
    EXPECT_FALSE(chainWith(nothing, [](auto& to) { number(to, NFTA_HOOK_PRIORITY, 0); })) << "at which hook?";
    EXPECT_FALSE(chainWith(nothing, [](auto& to) { number(to, NFTA_HOOK_HOOKNUM, 2); })) << "when?";
    EXPECT_FALSE(chainWith([](auto& to) { to.put(NFTA_CHAIN_POLICY, std::uint8_t{1}); }, hook));
}

TEST(NewerKernels, SetsWithSomethingThatIsNotKnownAreNotUnderstood) {
    const auto understood = [](const Fill& fill) {
        MessageBuilder builder(NFT_MSG_NEWSET, nfgenmsg{NFPROTO_IPV4, NFNETLINK_V0, 0});
        builder.text(NFTA_SET_TABLE, "t").text(NFTA_SET_NAME, "s");
        fill(builder);
        const auto bytes = builder.bytes();
        return introspect::decodeSet(firstMessage(bytes)).value().understood;
    };
    EXPECT_TRUE(understood([](auto& to) { number(to, NFTA_SET_FLAGS, 0x1ff); }));
    EXPECT_FALSE(understood([](auto& to) { number(to, NFTA_SET_FLAGS, 0x200); }));
    EXPECT_FALSE(understood([](auto& to) { to.put(NFTA_SET_FLAGS, std::uint16_t{0}); }));
    EXPECT_TRUE(understood([](auto& to) { number(to, NFTA_SET_EXPRESSIONS + 2, 1); }));
    EXPECT_FALSE(understood([](auto& to) { number(to, NFTA_SET_EXPRESSIONS + 3, 1); }));
}

/// One element of a set: whether it can be read, and whether it does more than count.
std::pair<bool, bool> elementWith(const Fill& fill, bool timed = false) {
    MessageBuilder builder(NFT_MSG_NEWSETELEM, nfgenmsg{NFPROTO_IPV4, NFNETLINK_V0, 0});
    builder.nest(NFTA_SET_ELEM_LIST_ELEMENTS, [&](auto& list) { list.nest(NFTA_LIST_ELEM, fill); });
    const auto bytes = builder.bytes();
    model::RuleElements elements;
    const bool read = introspect::decodeElements(firstMessage(bytes), true, elements, timed).has_value();
    return {read, elements.expressions};
}

TEST(NewerKernels, ElementsWithSomethingThatIsNotKnownAreDoubt) {
    const Fill key = [](auto& to) {
        to.nest(NFTA_SET_ELEM_KEY, [](auto& data) { number(data, NFTA_DATA_VALUE, 1); });
    };
    const auto with = [&](const Fill& more) { return elementWith([&](auto& to) { key(to), more(to); }); };
    EXPECT_EQ(elementWith(key), (std::pair{true, false}));
    EXPECT_EQ(with([](auto& to) { number(to, NFTA_SET_ELEM_FLAGS, NFT_SET_ELEM_INTERVAL_END); }),
              (std::pair{true, false}));
    EXPECT_FALSE(with([](auto& to) { number(to, NFTA_SET_ELEM_FLAGS, 4); }).first);
    EXPECT_FALSE(with([](auto& to) { number(to, NFTA_SET_ELEM_FLAGS, NFT_SET_ELEM_CATCHALL); }).first);
    EXPECT_TRUE(elementWith([](auto& to) { number(to, NFTA_SET_ELEM_FLAGS, NFT_SET_ELEM_CATCHALL); }).first);
    EXPECT_FALSE(elementWith([](auto&) {}).first) << "neither a key nor all others";
    for (const auto attribute : {NFTA_SET_ELEM_TIMEOUT, NFTA_SET_ELEM_EXPIRATION})
        EXPECT_TRUE(with([&](auto& to) { to.put(attribute, std::uint64_t{1}); }).second);
    const Fill goes = [&](auto& to) { key(to), to.put(NFTA_SET_ELEM_TIMEOUT, std::uint64_t{1}); };
    EXPECT_EQ(elementWith(goes, true), (std::pair{true, false})) << "of a set from which they go";
    EXPECT_TRUE(with([](auto& to) { number(to, NFTA_SET_ELEM_EXPRESSIONS + 1, 1); }).second);
}

} // namespace
} // namespace tna::test
