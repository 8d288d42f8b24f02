// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_rule_set.hpp"

#include "introspect/decode_expression.hpp"

#include <arpa/inet.h>
#include <endian.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_hook.h>

namespace tna::introspect {

namespace {
using netlink::Attributes;
using netlink::Message;

// include/libnftnl/udata.h: what nft notes about a rule, as type, length and value, each of a byte.
constexpr std::uint8_t commentOfRule = 0;
// include/uapi/linux/netfilter/nfnetlink_hook.h, since 6.4: NFNL_HOOK_TYPE_BPF, NFNLA_HOOK_BPF_ID
constexpr std::uint32_t typeOfProgram = 2;
constexpr std::uint16_t programId = 1;

template <typename Number>
Number numberOf(const Attributes& attributes, std::uint16_t type) {
    if constexpr (sizeof(Number) == sizeof(std::uint64_t))
        return be64toh(attributes.value<std::uint64_t>(type).value_or(0));
    else
        return static_cast<Number>(ntohl(attributes.value<std::uint32_t>(type).value_or(0)));
}

/// Whether it is of the right size, if it is there.
bool isNumber(const Attributes& attributes, std::uint16_t type) {
    return !attributes.has(type) || attributes.value<std::uint32_t>(type).has_value();
}

model::RuleFamily familyOf(const Message& message) {
    return static_cast<model::RuleFamily>(message.header<nfgenmsg>().value_or(nfgenmsg{}).nfgen_family);
}

std::string commentIn(netlink::Bytes notes) {
    while (notes.size() >= 2) {
        const auto type = std::to_integer<std::uint8_t>(notes[0]);
        const auto length = std::to_integer<std::size_t>(notes[1]);
        if (length > notes.size() - 2)
            break;
        const std::string_view value(reinterpret_cast<const char*>(notes.data()) + 2, length);
        if (type == commentOfRule)
            return std::string(value.substr(0, value.find('\0')));
        notes = notes.subspan(2 + length);
    }
    return {};
}

/// Each expression of a list.
template <typename Function>
void forEachExpression(const Attributes& list, Function&& function) {
    list.forEach([&](const netlink::Attribute& attribute) {
        const auto element = Attributes::parse(attribute.payload);
        model::RuleExpression unreadable;
        unreadable.understood = false;
        function(element ? decodeExpression(*element) : unreadable);
    });
}

/// NFTA_DATA_VALUE of a nested attribute.
std::optional<std::vector<std::uint8_t>> valueIn(const Attributes& attributes, std::uint16_t type) {
    const auto data = attributes.nested(type);
    const auto value = data ? data->find(NFTA_DATA_VALUE) : std::nullopt;
    if (!value)
        return std::nullopt;
    const auto* begin = reinterpret_cast<const std::uint8_t*>(value->data());
    return std::vector<std::uint8_t>{begin, begin + value->size()};
}

/// Whether an element does more than count.
bool doesMore(const Attributes& element) {
    bool more = !element.within(NFTA_SET_ELEM_EXPRESSIONS);
    const auto look = [&](const model::RuleExpression& expression) { more |= expression.kind != "counter"; };
    const auto single = element.nested(NFTA_SET_ELEM_EXPR);
    const auto several = element.nested(NFTA_SET_ELEM_EXPRESSIONS);
    if (!single || !several)
        return true;
    if (element.has(NFTA_SET_ELEM_EXPR))
        look(decodeExpression(*single));
    forEachExpression(*several, look);
    return more;
}

std::optional<model::SetElement> elementOf(const Attributes& attributes) {
    model::SetElement element;
    const auto flags = numberOf<std::uint32_t>(attributes, NFTA_SET_ELEM_FLAGS);
    constexpr std::uint32_t known = NFT_SET_ELEM_INTERVAL_END | NFT_SET_ELEM_CATCHALL;
    if (!isNumber(attributes, NFTA_SET_ELEM_FLAGS) || (flags & ~known) != 0)
        return std::nullopt;
    element.intervalEnd = (flags & NFT_SET_ELEM_INTERVAL_END) != 0;
    // One without a key stands for all others.
    if (attributes.has(NFTA_SET_ELEM_KEY) == ((flags & NFT_SET_ELEM_CATCHALL) != 0))
        return std::nullopt;
    if (attributes.has(NFTA_SET_ELEM_KEY)) {
        auto key = valueIn(attributes, NFTA_SET_ELEM_KEY);
        if (!key)
            return std::nullopt;
        element.key = std::move(*key);
    }
    const auto data = attributes.nested(NFTA_SET_ELEM_DATA);
    if (data && data->has(NFTA_DATA_VERDICT)) {
        const auto verdict = data->nested(NFTA_DATA_VERDICT);
        element.verdict = verdict ? decodeVerdict(*verdict) : std::nullopt;
        if (!element.verdict)
            return std::nullopt;
    }
    return element;
}
} // namespace

std::optional<std::uint32_t> decodeGeneration(const Message& message) {
    const auto attributes = message.attributes<nfgenmsg>();
    const auto id = attributes ? attributes->value<std::uint32_t>(NFTA_GEN_ID) : std::nullopt;
    return id ? std::optional{ntohl(*id)} : std::nullopt;
}

std::optional<model::RuleTable> decodeTable(const Message& message) {
    const auto attributes = message.attributes<nfgenmsg>();
    if (!attributes || !attributes->has(NFTA_TABLE_NAME))
        return std::nullopt;
    return model::RuleTable{familyOf(message), attributes->text(NFTA_TABLE_NAME),
                            numberOf<std::uint32_t>(*attributes, NFTA_TABLE_FLAGS)};
}

std::optional<model::RuleChain> decodeRuleChain(const Message& message) {
    const auto attributes = message.attributes<nfgenmsg>();
    if (!attributes || !attributes->has(NFTA_CHAIN_NAME))
        return std::nullopt;
    model::RuleChain chain;
    chain.family = familyOf(message);
    chain.table = attributes->text(NFTA_CHAIN_TABLE);
    chain.name = attributes->text(NFTA_CHAIN_NAME);
    chain.handle = numberOf<std::uint64_t>(*attributes, NFTA_CHAIN_HANDLE);
    chain.base = attributes->has(NFTA_CHAIN_HOOK);
    const auto flags = numberOf<std::uint32_t>(*attributes, NFTA_CHAIN_FLAGS);
    constexpr std::uint32_t knownFlags = NFT_CHAIN_BASE | NFT_CHAIN_HW_OFFLOAD | NFT_CHAIN_BINDING;
    chain.understood = attributes->within(NFTA_CHAIN_USERDATA) && (flags & ~knownFlags) == 0;
    if (!chain.base)
        return chain;
    const auto hook = attributes->nested(NFTA_CHAIN_HOOK);
    if (!hook || !hook->value<std::uint32_t>(NFTA_HOOK_HOOKNUM) ||
        !hook->value<std::uint32_t>(NFTA_HOOK_PRIORITY) || !isNumber(*attributes, NFTA_CHAIN_POLICY))
        return std::nullopt;
    chain.understood &= hook->within(NFTA_HOOK_DEVS);
    chain.hook = numberOf<std::uint32_t>(*hook, NFTA_HOOK_HOOKNUM);
    chain.priority = numberOf<std::int32_t>(*hook, NFTA_HOOK_PRIORITY);
    chain.type = attributes->text(NFTA_CHAIN_TYPE);
    if (attributes->has(NFTA_CHAIN_POLICY))
        chain.policy = numberOf<std::uint32_t>(*attributes, NFTA_CHAIN_POLICY);
    return chain;
}

std::optional<PlacedRule> decodeFilterRule(const Message& message) {
    const auto attributes = message.attributes<nfgenmsg>();
    const auto list = attributes ? attributes->nested(NFTA_RULE_EXPRESSIONS) : std::nullopt;
    if (!list || !attributes->has(NFTA_RULE_CHAIN))
        return std::nullopt;
    PlacedRule placed{
        familyOf(message), attributes->text(NFTA_RULE_TABLE), attributes->text(NFTA_RULE_CHAIN), {}};
    placed.rule.handle = numberOf<std::uint64_t>(*attributes, NFTA_RULE_HANDLE);
    placed.rule.comment = commentIn(attributes->find(NFTA_RULE_USERDATA).value_or(netlink::Bytes{}));
    if (!attributes->within(NFTA_RULE_CHAIN_ID))
        placed.rule.expressions.push_back({.kind = "rule", .understood = false});
    std::size_t count = placed.rule.expressions.size();
    list->forEach([&](const netlink::Attribute&) { ++count; });
    placed.rule.expressions.reserve(count); // there may be many rules
    forEachExpression(*list, [&](model::RuleExpression expression) {
        placed.rule.expressions.push_back(std::move(expression));
    });
    return placed;
}

std::optional<model::NamedSet> decodeSet(const Message& message) {
    const auto attributes = message.attributes<nfgenmsg>();
    if (!attributes || !attributes->has(NFTA_SET_NAME))
        return std::nullopt;
    model::NamedSet set;
    set.family = familyOf(message);
    set.table = attributes->text(NFTA_SET_TABLE);
    set.name = attributes->text(NFTA_SET_NAME);
    set.flags = numberOf<std::uint32_t>(*attributes, NFTA_SET_FLAGS);
    set.dataType = numberOf<std::uint32_t>(*attributes, NFTA_SET_DATA_TYPE);
    set.objectType = numberOf<std::uint32_t>(*attributes, NFTA_SET_OBJ_TYPE);
    const auto single = attributes->nested(NFTA_SET_EXPR);
    const auto several = attributes->nested(NFTA_SET_EXPRESSIONS);
    // Since 6.16 there come two more, about how it is stored and how much is in it.
    constexpr std::uint16_t lastAttribute = NFTA_SET_EXPRESSIONS + 2;
    constexpr std::uint32_t knownFlags = NFT_SET_ANONYMOUS | NFT_SET_CONSTANT | NFT_SET_INTERVAL |
                                         NFT_SET_MAP | NFT_SET_TIMEOUT | NFT_SET_EVAL | NFT_SET_OBJECT |
                                         NFT_SET_CONCAT | NFT_SET_EXPR;
    set.understood = single && several && attributes->within(lastAttribute) &&
                     isNumber(*attributes, NFTA_SET_FLAGS) && (set.flags & ~knownFlags) == 0;
    if (attributes->has(NFTA_SET_EXPR) && single)
        set.expressions.push_back(decodeExpression(*single).kind);
    if (attributes->has(NFTA_SET_EXPRESSIONS) && several)
        forEachExpression(*several,
                          [&](const auto& expression) { set.expressions.push_back(expression.kind); });
    return set;
}

std::optional<std::size_t> decodeElements(const Message& message, bool keep, model::RuleElements& elements,
                                          bool timed) {
    const auto attributes = message.attributes<nfgenmsg>();
    const auto list = attributes ? attributes->nested(NFTA_SET_ELEM_LIST_ELEMENTS) : std::nullopt;
    if (!list)
        return std::nullopt;
    std::size_t count = 0;
    bool good = true;
    list->forEach([&](const netlink::Attribute& attribute) {
        ++count;
        const auto element = Attributes::parse(attribute.payload);
        good &= element.has_value();
        if (!element)
            return;
        // One that goes by itself would be of a set whose flags say so; to be sure.
        const bool goes = element->has(NFTA_SET_ELEM_TIMEOUT) || element->has(NFTA_SET_ELEM_EXPIRATION);
        elements.expressions |= doesMore(*element) || (goes && !timed);
        if (!keep)
            return;
        auto decoded = elementOf(*element);
        good &= decoded.has_value();
        if (decoded)
            elements.list.push_back(std::move(*decoded));
    });
    return good ? std::optional{count} : std::nullopt;
}

std::optional<model::RuleObject> decodeObject(const Message& message) {
    const auto attributes = message.attributes<nfgenmsg>();
    if (!attributes || !attributes->has(NFTA_OBJ_NAME))
        return std::nullopt;
    return model::RuleObject{familyOf(message), attributes->text(NFTA_OBJ_TABLE),
                             attributes->text(NFTA_OBJ_NAME),
                             numberOf<std::uint32_t>(*attributes, NFTA_OBJ_TYPE)};
}

std::optional<model::RuleFlowtable> decodeRuleFlowtable(const Message& message) {
    const auto attributes = message.attributes<nfgenmsg>();
    if (!attributes || !attributes->has(NFTA_FLOWTABLE_NAME))
        return std::nullopt;
    return model::RuleFlowtable{familyOf(message), attributes->text(NFTA_FLOWTABLE_TABLE),
                                attributes->text(NFTA_FLOWTABLE_NAME)};
}

std::optional<model::HookFunction> decodeHookFunction(const Message& message) {
    const auto attributes = message.attributes<nfgenmsg>();
    if (!attributes || !attributes->has(NFNLA_HOOK_HOOKNUM))
        return std::nullopt;
    model::HookFunction found;
    found.family = familyOf(message);
    found.hook = numberOf<std::uint32_t>(*attributes, NFNLA_HOOK_HOOKNUM);
    found.priority = numberOf<std::int32_t>(*attributes, NFNLA_HOOK_PRIORITY);
    found.function = attributes->text(NFNLA_HOOK_FUNCTION_NAME);
    found.module = attributes->text(NFNLA_HOOK_MODULE_NAME);
    const auto chain = attributes->nested(NFNLA_HOOK_CHAIN_INFO);
    const auto type = chain ? numberOf<std::uint32_t>(*chain, NFNLA_HOOK_INFO_TYPE) : 0;
    found.ofTables = type == NFNL_HOOK_TYPE_NFTABLES;
    if (const auto program =
            chain && type == typeOfProgram ? chain->nested(NFNLA_HOOK_INFO_DESC) : std::nullopt)
        found.program = numberOf<std::uint32_t>(*program, programId);
    return found;
}

} // namespace tna::introspect
