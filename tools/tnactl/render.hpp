// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tna::ctl {

/// The status document with "fast_pps" and "slow_pps" for each port that `before`, the document `seconds`
/// earlier, knows as well.
[[nodiscard]] nlohmann::json withRates(nlohmann::json now, const nlohmann::json& before, double seconds);

/// The documents as text for people. Fields that are missing show as nothing.
[[nodiscard]] std::string renderStatus(const nlohmann::json& status);
[[nodiscard]] std::string renderPort(const nlohmann::json& document);
[[nodiscard]] std::string renderRoute(const nlohmann::json& document);
[[nodiscard]] std::string renderGraphTree(const nlohmann::json& graph);
[[nodiscard]] std::string renderGraphDot(const nlohmann::json& graph);
[[nodiscard]] std::string renderCapabilities(const nlohmann::json& document);

} // namespace tna::ctl
