// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tna::ctl {

/// An event as a line for people. What is new in a later version shows as it is.
[[nodiscard]] std::string renderEvent(const nlohmann::json& event);

} // namespace tna::ctl
