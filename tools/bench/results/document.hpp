// SPDX-License-Identifier: Apache-2.0
// What the documents and tables of all measurements have in common.
#pragma once

#include "bench/testbed/scenario.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tna::bench {

/// Where the measurement was made: kernel, CPU, load.
[[nodiscard]] nlohmann::json describeMachine();
/// The same in a line.
[[nodiscard]] std::string machineLine(const nlohmann::json& machine);

[[nodiscard]] nlohmann::json sizeDocument(unsigned size);
[[nodiscard]] nlohmann::json setupDocument(const Setup& setup);
/// Null for no values.
[[nodiscard]] nlohmann::json summaryDocument(const std::vector<double>& values);
[[nodiscard]] nlohmann::json textOrNull(const std::string& text);
/// Median and quartiles, or "-".
[[nodiscard]] std::string spreadText(const std::vector<double>& values);
/// What must be known to compare contenders of two kinds.
[[nodiscard]] std::string coresRemark();

} // namespace tna::bench
