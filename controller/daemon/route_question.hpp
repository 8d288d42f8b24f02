// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/supervisor.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tna::daemon {

/// What becomes of a packet that comes in by a port: what the fast path's own program does with it, beside
/// what the kernel says.
[[nodiscard]] Result<nlohmann::json> answerRoute(const Supervisor& supervisor, const std::string& port,
                                                 const std::string& from, const std::string& to);

} // namespace tna::daemon
