// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/traffic/load.hpp"

#include <algorithm>
#include <functional>
#include <optional>

namespace tna::bench {

/// One measurement: rates in steady state, and an account of every frame from the first to the last.
struct Sample {
    double seconds = 0;                ///< of steady state
    std::uint64_t received = 0;        ///< in it
    double cpuSeconds = 0;             ///< of the generator's threads in it, and the kernel in their place
    double ownCpuSeconds = 0;          ///< of the contender's own processes in it
    Counters total;                    ///< from the start to when nothing was under way any more
    std::optional<std::uint64_t> slow; ///< of all, those that a fast path left to Linux

    double mayBeSlow = 0; ///< the part of all that Linux has to see

    std::optional<Hardware>
        hardware;      ///< in the steady state, of the generator's threads and the contender's processes
    double stolen = 0; ///< part of all processors' time that other machines of the host took

    [[nodiscard]] double mpps() const {
        return seconds > 0 ? static_cast<double>(received) / seconds / 1e6 : 0;
    }
    [[nodiscard]] double nsPerFrame() const {
        return received > 0 ? (cpuSeconds + ownCpuSeconds) * 1e9 / static_cast<double>(received) : 0;
    }
    [[nodiscard]] std::uint64_t lost() const { return total.lost(); }
    /// Too much of it was not this machine's.
    [[nodiscard]] bool disturbed() const { return stolen > 0.02; }
    /// A fast path was to be measured, and Linux did part of the work.
    [[nodiscard]] bool suspect() const {
        return static_cast<double>(slow.value_or(0)) > mayBeSlow * static_cast<double>(total.sent);
    }
    /// The part of all frames that did not go to Linux; nothing for those that have no other way.
    [[nodiscard]] std::optional<double> fast() const {
        if (!slow || total.sent == 0)
            return {};
        return 1 - static_cast<double>(std::min(*slow, total.sent)) / static_cast<double>(total.sent);
    }
};

/// How long to measure.
struct Duration {
    double seconds = 0;
    std::uint64_t leastFrames = 0; ///< longer, until as many have arrived
};

/// Offers as much as the setup's CPUs can; fails if frames stop arriving.
[[nodiscard]] Result<Sample> measure(const Traffic& traffic, const Setup& setup, Duration duration,
                                     const std::function<double()>& ownCpuSeconds,
                                     const std::vector<pid_t>& processes = {});

/// Of the first line of /proc/stat: the time of all processors so far, and what of it was stolen, in the same
/// unit.
struct ProcessorTime {
    std::uint64_t all = 0;
    std::uint64_t stolen = 0;
};
[[nodiscard]] ProcessorTime processorTimeOf(const std::string& stat);

} // namespace tna::bench
