// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "daemon/controller.hpp"

#include <functional>

namespace tna::daemon {

/// Runs the controller until SIGTERM or SIGINT; SIGHUP calls `reload`. The signals must be blocked
/// (blockSignals) before any thread is started.
void blockSignals();
[[nodiscard]] Result<void> runEventLoop(Controller& controller, const std::function<void()>& reload);

} // namespace tna::daemon
