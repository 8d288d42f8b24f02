// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/progress.hpp"
#include "bench/measure/sample.hpp"
#include "bench/testbed/devices.hpp"
#include "bench/testbed/scenario.hpp"
#include "bench/traffic/tcp_check.hpp"

#include <string>
#include <vector>

namespace tna::bench {

struct ThroughputOptions {
    Setup setup; ///< what all loads have in common
    std::vector<std::string> contenders;
    std::vector<unsigned> stations{1, 200}; ///< or destinations
    std::vector<unsigned> cpus{1, 2};
    std::vector<unsigned> sizes{64};
    std::vector<unsigned> routes{1};
    std::vector<unsigned> rules{0};
    std::vector<unsigned> routingRules{0};
    std::vector<unsigned> entries{0};
    std::vector<unsigned> ruleChanges{0};
    unsigned rounds = 50;
    double seconds = 0.04;
    std::uint64_t leastFrames = 1000; ///< a measurement lasts until as many have arrived
    std::string tnad;                 ///< the daemon's file
};

/// One contender under one load: what was measured, or why it was not.
struct Series {
    std::string contender;
    Setup setup;
    std::vector<Sample> rounds;
    std::string notMeasured;
    Tcp tcp = Tcp::notTried;          ///< what became of a real connection
    unsigned cores = 0;               ///< processors that it has for itself, beside the generator's
    std::vector<std::string> remarks; ///< about its traffic
    std::vector<DeviceFacts> devices; ///< that frames go through
};

/// Each of a list with each of all the others.
[[nodiscard]] std::vector<Setup> loadsOf(const ThroughputOptions& options);

/// Measures all contenders in turn, round by round; what was measured before an interruption is kept. Turns
/// are short, so that a machine whose speed wanders is equally fast for all of a round.
[[nodiscard]] Result<std::vector<Series>> measureThroughput(const ThroughputOptions& options,
                                                            Watcher& watcher);

} // namespace tna::bench
