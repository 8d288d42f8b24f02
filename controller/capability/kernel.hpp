// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "capability/capabilities.hpp"

#include <optional>
#include <string>

namespace tna::capability {

/// What the kernel says of itself: release, lockdown, br_netfilter's hook functions.
[[nodiscard]] Result<Capabilities> probeKernel();

/// What the kernel's list of its functions tells; nothing where it has none to show.
void readSymbols(Capabilities& found, const std::optional<std::string>& symbols);

} // namespace tna::capability
