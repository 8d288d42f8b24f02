// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"

#include <string>
#include <sys/types.h>

namespace tna::bench {

/// The work of a device's driver moves into a thread of the kernel's, on the first processor or another one:
/// so it is beside the generator's, not within it, and competes for time as it does on any machine that has
/// more to do than it can. Which thread it is.
[[nodiscard]] Result<pid_t> giveDriverItsThread(const NetNamespace& where, const std::string& device,
                                                unsigned cpu = 0);

} // namespace tna::bench
