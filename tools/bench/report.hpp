// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/throughput.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace tna::bench {

/// Where the measurement was made: kernel, CPU, load.
[[nodiscard]] nlohmann::json describeMachine();
/// The same in a line.
[[nodiscard]] std::string machineLine(const nlohmann::json& machine);

// What the documents and tables of the commands have in common.
[[nodiscard]] nlohmann::json setupDocument(const Setup& setup);
/// Null for no values.
[[nodiscard]] nlohmann::json summaryDocument(const std::vector<double>& values);
[[nodiscard]] nlohmann::json textOrNull(const std::string& text);
/// Median and quartiles, or "-".
[[nodiscard]] std::string spreadText(const std::vector<double>& values);
/// What must be known to compare contenders of two kinds.
[[nodiscard]] std::string coresRemark();

/// Ratios first: they survive a noisy machine, absolute figures do not.
[[nodiscard]] std::string renderTable(const std::vector<Series>& all);

/// What a reader of the table must know: rounds that were not really fast, contenders not measured.
[[nodiscard]] std::vector<std::string> remarks(const std::vector<Series>& all);

/// Everything, every round; version 4.
[[nodiscard]] nlohmann::json resultDocument(const ThroughputOptions& options, const nlohmann::json& machine,
                                            const std::vector<Series>& all);

} // namespace tna::bench
