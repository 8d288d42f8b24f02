// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/rule_set.hpp"

#include <string>
#include <vector>

namespace tna::assemble::rules {

/// Of a function that netfilter calls: it may do with a packet what it did not do with the one before, as far
/// as is known here. Those that chains are called by are not meant: their rules are looked at.
[[nodiscard]] bool mayTreatFlowsUnalike(const model::HookFunction& function);

/// What is in the way then, and what can be done about it.
struct FunctionWords {
    std::string reason;
    std::string hint;
    bool operator==(const FunctionWords&) const = default;
};
[[nodiscard]] FunctionWords wordsFor(const model::HookFunction& function);

/// Of all such functions that forwarded packets of IPv4 and IPv6 meet; each of them once.
[[nodiscard]] std::vector<FunctionWords> functionsInTheWay(const std::vector<model::HookFunction>& functions);

} // namespace tna::assemble::rules
