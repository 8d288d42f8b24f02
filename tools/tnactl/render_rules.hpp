// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tna::ctl {

/// The document of `GET /v1/rules` as text for people.
[[nodiscard]] std::string renderRules(const nlohmann::json& document);

} // namespace tna::ctl
