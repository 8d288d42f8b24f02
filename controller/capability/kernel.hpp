// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "capability/capabilities.hpp"

namespace tna::capability {

/// What the kernel says of itself: release, lockdown, br_netfilter's hook functions.
[[nodiscard]] Result<Capabilities> probeKernel();

} // namespace tna::capability
