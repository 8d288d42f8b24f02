// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "bench/measure/progress.hpp"
#include "bench/measure/trial.hpp"
#include "bench/results/histogram.hpp"
#include "bench/testbed/scenario.hpp"

#include <string>
#include <vector>

namespace tna::bench {

struct LatencyOptions {
    std::vector<std::string> contenders;
    std::vector<unsigned> loads{10, 50, 90}; ///< per cent of what the slowest contender can carry
    Setup setup;
    NoLossOptions search;
    unsigned rounds = 10;
    double seconds = 0.2;   ///< of each turn
    bool roundTrip = false; ///< there and back, instead of one way
    std::string tnad;       ///< the daemon's file
};

/// One contender under one load. A frame's latency counts from when it was due, however late it was sent.
struct LatencySeries {
    std::string contender;
    unsigned load = 0;
    double wantedRate = 0; ///< frames per second
    Histogram latencies;
    std::vector<double> medians; ///< of each round
    std::uint64_t sent = 0;
    std::uint64_t lost = 0;
    std::string notMeasured;
    std::vector<std::string> remarks; ///< about its traffic
};

struct LatencyResult {
    double capacity = 0; ///< of the slowest contender without loss (RFC 2544), in frames per second
    std::string slowest;
    std::vector<LatencySeries> series;
};

/// All contenders stand ready in namespaces of their own and take short turns at each load.
[[nodiscard]] Result<LatencyResult> measureLatency(const LatencyOptions& options, Watcher& watcher);

} // namespace tna::bench
