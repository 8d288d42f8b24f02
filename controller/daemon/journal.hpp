// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <spdlog/logger.h>

namespace tna::daemon {

/// Tells the journal, with LogFields, where standard error leads there; else standard error.
[[nodiscard]] std::shared_ptr<spdlog::logger> makeLogger();

} // namespace tna::daemon
