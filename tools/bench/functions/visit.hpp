// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/functions/contestant.hpp"

#include <nlohmann/json.hpp>

namespace tna::bench {

/// What a contestant does with a case in one round: it is started, measured at full offer, and at rates at
/// which nothing is to be lost; null what was not asked for.
[[nodiscard]] nlohmann::json visit(const FunctionsOptions& options, const FunctionsCase& one,
                                   const ContestantKind& kind, const std::string& workload);
/// How long that takes, without what it takes to start.
[[nodiscard]] double secondsOfVisit(const FunctionsOptions& options);

} // namespace tna::bench
