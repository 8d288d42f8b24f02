// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace tna::bench {

/// Seconds of processors, by what they were used for.
struct CpuTimes {
    double user = 0;
    double system = 0;
    double softirq = 0;
};

/// From /proc/stat, of these processors; interrupts count as softirq, as one runs at the end of the other.
[[nodiscard]] CpuTimes cpuTimesOf(const std::string& stat, const std::vector<unsigned>& cpus,
                                  double ticksPerSecond);
/// The same now. A driver that works in a thread of the kernel's does what it would do in softirq.
[[nodiscard]] Result<CpuTimes> cpuTimes(const std::vector<unsigned>& cpus, std::optional<pid_t> driver);

} // namespace tna::bench
