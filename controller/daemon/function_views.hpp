// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/function_connections.hpp"

#include <nlohmann/json_fwd.hpp>

namespace tna::daemon {

/// A network function with what it has been given; `ports` are those that are there, `against` says of some
/// why nothing of theirs is steered.
[[nodiscard]] nlohmann::json viewFunction(const FunctionSet::Function& function,
                                          const FunctionConnections& connections,
                                          const deploy::Steering& steering,
                                          const std::map<std::string, unsigned>& ports,
                                          const std::map<std::string, std::string>& against);

/// The same in short.
[[nodiscard]] nlohmann::json summarize(const nlohmann::json& function);

} // namespace tna::daemon
