// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/traffic.hpp"

#include <functional>
#include <string>
#include <vector>

namespace tna::bench {

struct ThroughputOptions {
    std::vector<std::string> contenders{"linux", "linux+nf", "tna", "ceiling"};
    std::vector<unsigned> flows{1, 200};
    std::vector<unsigned> cpus{1, 2};
    unsigned frameSize = 64;
    unsigned rounds = 9;
    double seconds = 0.3;
};

/// One contender under one load: what was measured, or why it was not.
struct Series {
    std::string contender;
    unsigned flows = 0;
    unsigned cpus = 0;
    std::vector<Sample> rounds;
    std::string notMeasured;
};

using Progress = std::function<void(const std::string& what, unsigned done, unsigned of)>;

/// Measures all contenders in turn, round by round, every second round in reverse order.
[[nodiscard]] Result<std::vector<Series>> measureThroughput(const ThroughputOptions& options,
                                                            const Progress& progress,
                                                            const std::function<bool()>& interrupted);

} // namespace tna::bench
