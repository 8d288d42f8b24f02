// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/throughput.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tna::bench {

/// Ratios first: they survive a noisy machine, absolute figures do not.
[[nodiscard]] std::string renderTable(const std::vector<Series>& all);

/// What a reader of the table must know: rounds that were not really fast, contenders not measured.
[[nodiscard]] std::vector<std::string> remarks(const std::vector<Series>& all);

/// Everything, every round; version 4.
[[nodiscard]] nlohmann::json resultDocument(const ThroughputOptions& options, const nlohmann::json& machine,
                                            const std::vector<Series>& all);

} // namespace tna::bench
