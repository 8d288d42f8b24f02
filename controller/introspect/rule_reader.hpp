// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/rule_set.hpp"

#include <cstddef>
#include <functional>

namespace tna::introspect {

/// What is read at most. Where there is more, the reading is an error: half a rule set says nothing.
struct RuleLimits {
    std::size_t rules = 100'000;
    std::size_t expressions = 1'000'000;
    std::size_t sets = 10'000;
    std::size_t elements = 1'000'000;   ///< looked at; those of sets without verdicts are not kept
    std::size_t keptElements = 100'000; ///< of maps with verdicts and of anonymous sets, all together
    int attempts = 5;                   ///< as long as rules change while they are read
};

/// The rule sets of the calling thread's network namespace as they are now, all of one generation. Asks the
/// kernel by a socket of its own and takes as long as it takes, so it is not for a thread that others wait
/// for. Tables of iptables-legacy are left to the caller, who follows them anyway. `betweenReads` is for
/// tests.
[[nodiscard]] Result<model::RuleSet> readRuleSet(const RuleLimits& limits = {},
                                                 const std::function<void()>& betweenReads = nullptr);

} // namespace tna::introspect
