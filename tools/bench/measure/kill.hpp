// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/progress.hpp"
#include "bench/testbed/kernel_objects.hpp"
#include "bench/traffic/traffic.hpp"

#include <nlohmann/json.hpp>
#include <vector>

namespace tna::bench {

struct KillOptions {
    unsigned stations = 200;
    unsigned frameSize = 64;
    unsigned rounds = 5;
    double seconds = 1;               ///< under load before the kill, and after the new start
    std::uint64_t leastFrames = 1000; ///< in each phase, whatever the time
    std::string tnad;
};

/// SIGKILL of a daemon under load, and its new start under the same load.
struct KillRound {
    Counters total;                  ///< from before the kill to after the new start, every frame
    Counters undisturbed;            ///< as long, without a kill
    double detachedAfter = 0;        ///< seconds from the signal to when the ports carried no program
    double acceleratedAfter = 0;     ///< seconds from the new start to when the ports were accelerated
    std::uint64_t slowMeanwhile = 0; ///< frames that Linux forwarded while there was no daemon
    std::uint64_t fastAgain = 0;     ///< frames that the new daemon's fast path took
    KernelObjects owned;             ///< by the killed daemon
    KernelObjects leftBehind;        ///< of those

    [[nodiscard]] std::uint64_t lost() const { return total.sent - total.received; }
    [[nodiscard]] std::uint64_t lostUndisturbed() const { return undisturbed.sent - undisturbed.received; }
};

/// Fails if Linux does not go on, the new daemon does not accelerate, or something is left behind.
[[nodiscard]] Result<std::vector<KillRound>> measureKills(const KillOptions& options, Watcher& watcher);

[[nodiscard]] std::string renderKills(const std::vector<KillRound>& rounds);
[[nodiscard]] nlohmann::json killDocument(const KillOptions& options, const nlohmann::json& machine,
                                          const std::vector<KillRound>& rounds);

} // namespace tna::bench
