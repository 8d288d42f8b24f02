// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

namespace tna::deploy {

/// When this returns, all frames have left the fast path that were in it before. It takes some milliseconds,
/// tens of them on a machine that has much to do.
[[nodiscard]] Result<void> letFramesPass();

} // namespace tna::deploy
