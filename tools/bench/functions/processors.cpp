// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/processors.hpp"

#include "base/file.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <sstream>
#include <unistd.h>

namespace tna::bench {

CpuTimes cpuTimesOf(const std::string& stat, const std::vector<unsigned>& cpus, double ticksPerSecond) {
    CpuTimes times;
    std::istringstream lines{stat};
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words{line};
        std::string name;
        words >> name;
        if (std::ranges::none_of(cpus, [&](unsigned cpu) { return name == fmt::format("cpu{}", cpu); }))
            continue;
        // user nice system idle iowait irq softirq: proc_stat(5)
        std::array<double, 7> ticks{};
        for (auto& value : ticks)
            words >> value;
        times.user += (ticks[0] + ticks[1]) / ticksPerSecond;
        times.system += ticks[2] / ticksPerSecond;
        times.softirq += (ticks[5] + ticks[6]) / ticksPerSecond;
    }
    return times;
}

Result<CpuTimes> cpuTimes(const std::vector<unsigned>& cpus, std::optional<pid_t> driver) {
    const auto stat = readFile("/proc/stat");
    if (!stat)
        return std::unexpected(stat.error());
    auto times = cpuTimesOf(*stat, cpus, static_cast<double>(::sysconf(_SC_CLK_TCK)));
    if (!driver)
        return times;
    const auto thread = readFile(fmt::format("/proc/{}/schedstat", *driver));
    if (!thread)
        return std::unexpected(thread.error());
    constexpr double nanosecond = 1e-9;
    const double own = std::stod(*thread) * nanosecond;
    times.system -= own;
    times.softirq += own;
    return times;
}

} // namespace tna::bench
