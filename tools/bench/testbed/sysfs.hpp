// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/net_namespace.hpp"

#include <functional>

namespace tna::bench {

/// /sys shows the devices of the namespace that it was mounted in: a thread in that namespace, with a /sys of
/// its own, reads and writes what is asked for.
[[nodiscard]] Result<void> withSysfsOf(const NetNamespace& where,
                                       const std::function<Result<void>()>& action);

/// The calling thread, which must have nobody else's file system, gets there for good.
[[nodiscard]] Result<void> moveToSysfsOf(const NetNamespace& where);

} // namespace tna::bench
