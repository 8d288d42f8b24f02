// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/sample.hpp"

#include "base/file.hpp"

#include <chrono>
#include <sstream>

namespace tna::bench {

namespace {
using Clock = std::chrono::steady_clock;
constexpr double warmUpSeconds = 0.01;
constexpr std::uint64_t warmUpFrames = 64;
constexpr auto patience = std::chrono::seconds(20);
constexpr auto tick = std::chrono::milliseconds(1);

double secondsSince(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Until as many frames have arrived. A busy machine may take its time, but not forever.
Result<void> awaitFrames(const Traffic& traffic, std::uint64_t total) {
    const auto deadline = Clock::now() + patience;
    while (traffic.counters().received < total) {
        if (Clock::now() > deadline) {
            const auto now = traffic.counters();
            return fail("no more than {} of {} frames arrived in {} s", now.received, now.sent,
                        patience.count());
        }
        std::this_thread::sleep_for(tick);
    }
    return {};
}

ProcessorTime processorTime() {
    return processorTimeOf(readFile("/proc/stat").value_or(""));
}

std::optional<Hardware> hardwareOf(Load& load, const Result<HardwareCounters>& own) {
    auto sum = load.hardware();
    if (sum && own)
        *sum += own->read();
    return sum;
}
} // namespace

ProcessorTime processorTimeOf(const std::string& stat) {
    constexpr unsigned stolen =
        7; // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user
    std::istringstream words{stat.substr(0, stat.find('\n'))};
    std::string name;
    words >> name;
    ProcessorTime time;
    std::uint64_t ticks = 0;
    for (unsigned column = 0; column <= stolen && words >> ticks; column++) {
        time.all += ticks;
        time.stolen += column == stolen ? ticks : 0;
    }
    return time;
}

Result<Sample> measure(const Traffic& traffic, const Setup& setup, Duration duration,
                       const std::function<double()>& ownCpuSeconds, const std::vector<pid_t>& processes) {
    const auto begin = traffic.counters();
    Sample sample;
    const auto own = HardwareCounters::open(threadsOf(processes));
    Load load{traffic, setup.queues, setup.reverse};
    std::this_thread::sleep_for(std::chrono::duration<double>(warmUpSeconds));
    Result<void> arrived = awaitFrames(traffic, begin.received + warmUpFrames);
    if (arrived) {
        const auto before = traffic.counters();
        const auto start = Clock::now();
        const auto timeBefore = processorTime();
        const auto hardwareBefore = hardwareOf(load, own);
        const double cpuBefore = load.cpuSeconds();
        const double ownBefore = ownCpuSeconds();
        std::this_thread::sleep_for(std::chrono::duration<double>(duration.seconds));
        arrived = awaitFrames(traffic, before.received + duration.leastFrames);
        sample.received = traffic.counters().received - before.received;
        sample.seconds = secondsSince(start);
        sample.cpuSeconds = load.cpuSeconds() - cpuBefore;
        sample.ownCpuSeconds = ownCpuSeconds() - ownBefore;
        if (const auto hardware = hardwareOf(load, own); hardware && hardwareBefore)
            sample.hardware = hardware->since(*hardwareBefore);
        const auto time = processorTime();
        if (time.all > timeBefore.all)
            sample.stolen = static_cast<double>(time.stolen - timeBefore.stolen) /
                            static_cast<double>(time.all - timeBefore.all);
    }
    if (auto stopped = load.stop(); !stopped)
        return std::unexpected(stopped.error());
    if (!arrived)
        return std::unexpected(arrived.error());
    sample.total = traffic.settle().since(begin);
    if (sample.total.wrong != 0)
        return fail("{} of {} frames arrived changed", sample.total.wrong, sample.total.received);
    return sample;
}

} // namespace tna::bench
