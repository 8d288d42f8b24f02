// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tna::ctl {

/// The daemon's documents as text for people. Fields that are missing show as nothing.
/// `before` is the same document `seconds` earlier, for rates; null for none.
[[nodiscard]] std::string renderStatus(const nlohmann::json& now, const nlohmann::json& before,
                                       double seconds);
[[nodiscard]] std::string renderPort(const nlohmann::json& document);
[[nodiscard]] std::string renderGraphTree(const nlohmann::json& graph);
[[nodiscard]] std::string renderGraphDot(const nlohmann::json& graph);
[[nodiscard]] std::string renderCapabilities(const nlohmann::json& document);

} // namespace tna::ctl
