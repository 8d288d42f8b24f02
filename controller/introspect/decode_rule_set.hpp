// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/rule_set.hpp"
#include "netlink/attributes.hpp"

namespace tna::introspect {

// Messages of nf_tables and of nfnetlink's hook dump. Nothing where they are malformed.

/// NFT_MSG_NEWGEN.
[[nodiscard]] std::optional<std::uint32_t> decodeGeneration(const netlink::Message& message);
/// NFT_MSG_NEWTABLE.
[[nodiscard]] std::optional<model::RuleTable> decodeTable(const netlink::Message& message);
/// NFT_MSG_NEWCHAIN; without rules.
[[nodiscard]] std::optional<model::RuleChain> decodeRuleChain(const netlink::Message& message);

struct PlacedRule {
    model::RuleFamily family = model::RuleFamily::unspecified;
    std::string table;
    std::string chain;
    model::FilterRule rule;
};
/// NFT_MSG_NEWRULE.
[[nodiscard]] std::optional<PlacedRule> decodeFilterRule(const netlink::Message& message);
/// NFT_MSG_NEWSET; without elements.
[[nodiscard]] std::optional<model::NamedSet> decodeSet(const netlink::Message& message);
/// NFT_MSG_NEWSETELEM: appends to `elements`; `keep` says whether they are listed, `timed` whether it is of a
/// set from which they go. Returns their number.
[[nodiscard]] std::optional<std::size_t> decodeElements(const netlink::Message& message, bool keep,
                                                        model::RuleElements& elements, bool timed = false);
/// NFT_MSG_NEWOBJ.
[[nodiscard]] std::optional<model::RuleObject> decodeObject(const netlink::Message& message);
/// NFT_MSG_NEWFLOWTABLE.
[[nodiscard]] std::optional<model::RuleFlowtable> decodeRuleFlowtable(const netlink::Message& message);
/// NFNL_MSG_HOOK_GET.
[[nodiscard]] std::optional<model::HookFunction> decodeHookFunction(const netlink::Message& message);

} // namespace tna::introspect
