// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/case.hpp"

#include <chrono>
#include <functional>

namespace tna::diff {

/// Whether a case still shows what is looked for.
using Shows = std::function<bool(const Case&)>;

/// The case with as few steps as it can be made with: parts are left out, smaller and smaller ones, for as
/// long as the rest shows the difference (delta debugging). What remains needs every step, unless time is up.
[[nodiscard]] Case shrink(Case what, const Shows& shows, std::chrono::seconds patience);

} // namespace tna::diff
