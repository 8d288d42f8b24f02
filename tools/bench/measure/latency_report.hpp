// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/latency.hpp"

#include <nlohmann/json.hpp>

namespace tna::bench {

[[nodiscard]] std::string renderLatency(const LatencyOptions& options, const LatencyResult& result);
[[nodiscard]] nlohmann::json latencyDocument(const LatencyOptions& options, const nlohmann::json& machine,
                                             const LatencyResult& result);

} // namespace tna::bench
