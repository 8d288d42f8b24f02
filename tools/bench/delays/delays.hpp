// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/delays/place.hpp"
#include "bench/measure/progress.hpp"

#include <nlohmann/json.hpp>

namespace tna::bench {

struct DelaysOptions {
    std::vector<double> intervals{0.005, 0.0006, 0}; ///< seconds from probe to probe; 0: none
    double seconds = 2;                              ///< of each run
    unsigned rounds = 3;
    unsigned clusters = 0; ///< 0: as many as fit best
    std::string journal;
    Cabling cabling;
    std::string address; ///< of the far end that is another machine, if it has one
};

/// What will be measured: every combination and yardstick at each interval, in an order that differs from
/// round to round and is the same each time.
struct DelaysPlan {
    std::vector<MissingKnob> missing;
    std::vector<Settings> settings;

    struct Run {
        std::string key; ///< of the journal
        std::size_t interval;
        std::size_t series; ///< combinations, then the usual one once more, then yardsticks
    };
    std::vector<Run> runs;
    double secondsPerRun = 0;

    [[nodiscard]] double seconds() const { return secondsPerRun * static_cast<double>(runs.size()); }
};

[[nodiscard]] DelaysPlan planDelays(const DelaysOptions& options, std::vector<MissingKnob> missing);
/// "216 runs of 0.3 s, about 2 min", and what is missing.
[[nodiscard]] std::string describe(const DelaysPlan& plan, const DelaysOptions& options);

/// What was found, by series and interval.
struct DelaysResult {
    DelaysPlan plan;
    /// As in the plan: [series][interval], a run each round.
    std::vector<std::vector<nlohmann::json>> runs;
    bool complete = true;
};

/// `announce` is told the plan before anything is measured; it says whether to go on.
[[nodiscard]] Result<DelaysResult> measureDelays(const DelaysOptions& options, Watcher& watcher,
                                                 const std::function<bool(const DelaysPlan&)>& announce);

[[nodiscard]] nlohmann::json delaysStudyDocument(const DelaysOptions& options, const nlohmann::json& machine,
                                                 const DelaysResult& result);

} // namespace tna::bench
