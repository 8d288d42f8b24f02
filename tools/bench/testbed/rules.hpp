// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "bench/testbed/scenario.hpp"

#include <string>

namespace tna::bench {

/// A source that no frame has, by number.
[[nodiscard]] std::string foreignSource(const Setup& setup, unsigned number);

/// The rules that frames of a setup meet, in the words of nft; empty if there are none. A firewall's are a
/// chain that drops what it does not accept: first those that concern nobody, so that each packet meets all
/// of them, then what is established, then what comes from the generator's side.
[[nodiscard]] std::string ruleSetOf(const Setup& setup);
/// One change of a firewall's rules, by number: a rule that concerns nobody takes the place of another.
[[nodiscard]] std::string ruleChange(const Setup& setup, unsigned number);

/// Loads rules in the words of nft, in the calling thread's network namespace.
[[nodiscard]] Result<void> loadRules(const std::string& rules);
/// The rules of a setup in the network namespace of a name.
[[nodiscard]] Result<void> addRules(const std::string& name, const Setup& setup);

} // namespace tna::bench
