// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/hardware.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace tna::bench {

const PerfEvents hardwareEvents{{{PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
                                 {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
                                 {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES}}};

Result<HardwareCounters> HardwareCounters::open(const std::vector<pid_t>& threads, const PerfEvents& events) {
    HardwareCounters counters;
    for (const pid_t thread : threads) {
        auto& own = counters.threads_.emplace_back();
        for (std::size_t i = 0; i < events.size(); i++) {
            perf_event_attr attributes{};
            attributes.size = sizeof(attributes);
            attributes.type = events.at(i).type;
            attributes.config = events.at(i).config;
            // Where there are fewer counters than events, they take turns.
            attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
            own.at(i).reset(static_cast<int>(
                ::syscall(SYS_perf_event_open, &attributes, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
            if (!own.at(i))
                return failErrno(errno, "cannot count cycles, instructions and cache misses");
        }
    }
    return counters;
}

Hardware HardwareCounters::read() const {
    Hardware sum;
    for (const auto& thread : threads_) {
        std::array<std::uint64_t, 3> values{};
        for (std::size_t i = 0; i < values.size(); i++) {
            std::array<std::uint64_t, 3>
                counted{}; // the value, and the times that it was enabled and running
            if (::read(thread.at(i).get(), counted.data(), sizeof(counted)) == sizeof(counted) &&
                counted[2] != 0)
                values.at(i) = static_cast<std::uint64_t>(static_cast<double>(counted[0]) *
                                                          static_cast<double>(counted[1]) /
                                                          static_cast<double>(counted[2]));
        }
        sum += {values[0], values[1], values[2]};
    }
    return sum;
}

std::string whyNoHardwareCounters() {
    const auto opened = HardwareCounters::open({0});
    return opened ? "" : opened.error().sentence();
}

std::vector<pid_t> threadsOf(const std::vector<pid_t>& processes) {
    std::vector<pid_t> threads;
    std::error_code none;
    for (const pid_t process : processes)
        for (const auto& entry :
             std::filesystem::directory_iterator(fmt::format("/proc/{}/task", process), none))
            threads.push_back(std::atoi(entry.path().filename().c_str()));
    return threads;
}

} // namespace tna::bench
