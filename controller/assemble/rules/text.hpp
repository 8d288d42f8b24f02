// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/rule_set.hpp"

#include <string>

namespace tna::assemble {

/// A rule in words like those of nft: enough to find it, not to load it again.
[[nodiscard]] std::string textOf(const model::FilterRule& rule, const model::RuleChain& chain);
/// "ip", "inet", ...
[[nodiscard]] std::string textOf(model::RuleFamily family);
/// "prerouting", "forward", ...
[[nodiscard]] std::string hookText(model::RuleFamily family, std::uint32_t hook);

} // namespace tna::assemble
