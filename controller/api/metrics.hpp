// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tna::api {

/// A status document as Prometheus reads it (text format 0.0.4). docs/api.md has the list.
[[nodiscard]] std::string metrics(const nlohmann::json& status);
inline constexpr const char* metricsType = "text/plain; version=0.0.4; charset=utf-8";

} // namespace tna::api
