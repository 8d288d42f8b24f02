// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/functions/visit.hpp"
#include "bench/measure/progress.hpp"

#include <functional>

namespace tna::bench {

/// A case that a contestant is measured in, or not.
struct FunctionsSeries {
    FunctionsCase one;
    std::size_t contestant = 0; ///< of contestantKinds()
    std::string notMeasured;    ///< why; empty: it is measured
};

/// Each round has all series, in an order that is another one each time.
struct FunctionsPlan {
    std::vector<FunctionsSeries> series;
    unsigned rounds = 0;
    double secondsPerVisit = 0;

    [[nodiscard]] std::size_t measured() const;
    [[nodiscard]] double seconds() const;
};
[[nodiscard]] FunctionsPlan planFunctions(const FunctionsOptions& options);
/// "12 of 15 ..., about 3 min", and what is missing.
[[nodiscard]] std::string describe(const FunctionsPlan& plan, const FunctionsOptions& options);
/// The file to run: as named, or as built, or as installed.
[[nodiscard]] Result<std::string> findWorkload(const std::string& named);

struct FunctionsResult {
    FunctionsPlan plan;
    std::vector<nlohmann::json> runs; ///< by series: a run each round
    bool complete = true;
};

/// `announce` is told the plan before anything is measured; it says whether to go on.
using AnnounceFunctions = std::function<bool(const FunctionsPlan& plan)>;
[[nodiscard]] Result<FunctionsResult> measureFunctions(const FunctionsOptions& options, Watcher& watcher,
                                                       const AnnounceFunctions& announce);
[[nodiscard]] nlohmann::json functionsDocument(const FunctionsOptions& options, const nlohmann::json& machine,
                                               const FunctionsResult& result);

} // namespace tna::bench
