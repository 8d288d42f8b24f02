// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/play.hpp"

#include <chrono>

namespace tna::diff {

/// Makes a case that showed a difference as small as patience allows, and writes it into a folder. What to
/// tell people: the difference, and how to see it again.
[[nodiscard]] Result<std::string> isolate(const Stage& stage, const Case& what, const Outcome& outcome,
                                          const Options& options, const std::string& folder,
                                          std::chrono::seconds patience);

} // namespace tna::diff
