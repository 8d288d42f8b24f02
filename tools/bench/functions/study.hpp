// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "bench/measure/progress.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tna::bench {

/// Frames of 64 bytes are sent back with their addresses swapped, by each contestant in turn.
struct FunctionsOptions {
    unsigned rounds = 10;
    double seconds = 1; ///< of each measurement
    unsigned cpus = 1;  ///< 1: user space shares the processor of generator and kernel; 2: it has another one
    std::string tnad;
    std::string workload;
};

/// Seconds of all processors, by what they were used for.
struct CpuTimes {
    double user = 0;
    double system = 0;
    double softirq = 0;
};
/// From the first line of /proc/stat; interrupts count as softirq, as one runs at the end of the other.
[[nodiscard]] CpuTimes cpuTimesOf(const std::string& stat, double ticksPerSecond);

/// Of one contestant, round by round.
struct FunctionsRuns {
    std::string name;
    std::string what; ///< that it is, in words
    std::vector<double> mpps;
    std::vector<double> loss;                  ///< the part of what was offered that did not come back
    std::vector<double> user, system, softirq; ///< processors that were busy with it
};

struct MeanAndDeviation {
    double mean = 0;
    double deviation = 0; ///< of a sample; 0 for less than two values
};
[[nodiscard]] MeanAndDeviation meanAndDeviation(const std::vector<double>& values);

/// What this command does not measure, a sentence each.
[[nodiscard]] const std::vector<std::string>& missingFromFunctions();
/// Without what it takes to start.
[[nodiscard]] double secondsOf(const FunctionsOptions& options);
/// The file to run: as named, or as built, or as installed.
[[nodiscard]] Result<std::string> findWorkload(const std::string& named);

[[nodiscard]] Result<std::vector<FunctionsRuns>> measureFunctions(const FunctionsOptions& options,
                                                                  Watcher& watcher);

[[nodiscard]] std::string renderFunctions(const FunctionsOptions& options,
                                          const std::vector<FunctionsRuns>& runs);
[[nodiscard]] nlohmann::json functionsDocument(const FunctionsOptions& options, const nlohmann::json& machine,
                                               const std::vector<FunctionsRuns>& runs);

} // namespace tna::bench
