// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>

namespace tna::introspect {

/// Waits until the rule sets of this generation are in effect in the calling thread's network namespace. The
/// kernel counts a generation before all of it is (elements of sets come last); who changes rules keeps
/// others waiting meanwhile, so an empty change is done when all before it are. False: there is another
/// generation by now.
[[nodiscard]] Result<bool> waitForRules(std::uint32_t generation);

} // namespace tna::introspect
