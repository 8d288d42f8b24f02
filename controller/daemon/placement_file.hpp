// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"
#include "base/error.hpp"

#include <chrono>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tna::daemon {

/// With what lies in folders and is a pipe: nobody else is answered meanwhile.
constexpr auto patienceWithFiles = std::chrono::seconds(2);

/// FNV-1a, the same in each version: it is in files.
[[nodiscard]] std::uint64_t hashOf(const std::string& object);

/// What says where a custom module is wanted, beside its object.
[[nodiscard]] nlohmann::json placementDocument(const api::Placement& placement);

/// A module without a placement beside it is wanted everywhere; one that is not as it must be is an error.
/// Where one was written for another object, which never came, that of before holds: see
/// CustomModules::keep().
[[nodiscard]] Result<api::Placement> readPlacement(const std::string& path, const std::string& object);

} // namespace tna::daemon
