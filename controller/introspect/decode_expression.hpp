// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/rule_set.hpp"
#include "netlink/attributes.hpp"

namespace tna::introspect {

/// An expression of a rule (the attributes of a NFTA_LIST_ELEM). Never fails: what is not as this decoder
/// knows it, or has attributes that it does not know, is not `understood`.
[[nodiscard]] model::RuleExpression decodeExpression(const netlink::Attributes& element);

/// The attributes of a NFTA_DATA_VERDICT.
[[nodiscard]] std::optional<model::RuleVerdict> decodeVerdict(const netlink::Attributes& verdict);

} // namespace tna::introspect
