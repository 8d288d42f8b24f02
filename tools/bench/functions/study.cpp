// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/study.hpp"

#include "base/file.hpp"
#include "bench/functions/contestant.hpp"
#include "bench/measure/turns.hpp"
#include "bench/testbed/tnad.hpp"
#include "bench/traffic/traffic.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <numeric>
#include <sstream>
#include <thread>
#include <unistd.h>

namespace tna::bench {

namespace {
using Clock = std::chrono::steady_clock;
constexpr auto warmUp = std::chrono::milliseconds(100);
constexpr auto patience = std::chrono::seconds(20);
constexpr double warmUpSeconds = 0.1;

struct Way {
    const char* name;
    const char* what;
    std::function<Result<std::unique_ptr<Contestant>>(const Contest&)> start;
};

const std::vector<Way>& ways() {
    static const std::vector<Way> all{
        {"linux", "a program with a packet socket; Linux looks at each frame as well", startPacketSocket},
        {"poll", "tna-workload, which sleeps in poll()",
         [](const Contest& contest) { return startFunction(contest, false); }},
        {"busy", "tna-workload, which never sleeps",
         [](const Contest& contest) { return startFunction(contest, true); }},
        {"xdp", "in the kernel, by XDP_TX: no user space", startXdp}};
    return all;
}

Result<CpuTimes> cpuTimes() {
    const auto stat = readFile("/proc/stat");
    if (!stat)
        return std::unexpected(stat.error());
    return cpuTimesOf(*stat, static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

/// Functions need some time to connect.
Result<void> awaitFirst(const FarSide& side, Contestant& contestant, const char* name) {
    const auto before = side.returned();
    const auto deadline = Clock::now() + patience;
    while (side.returned() == before) {
        if (Clock::now() > deadline)
            return std::unexpected(
                Error{fmt::format("no frame came back from {} in {} s", name, patience.count()),
                      contestant.complaint(),
                      {}});
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::this_thread::sleep_for(warmUp);
    return {};
}

Result<void> measureWay(const Contest& contest, const Way& way, double seconds, FunctionsRuns& runs) {
    auto contestant = way.start(contest);
    if (!contestant)
        return std::unexpected(contestant.error());
    const auto& side = contest.side;
    const auto wrongBefore = side.wrong();
    Offer offer{side.place(), swappedSize, side.giveProgram()};
    if (auto came = awaitFirst(side, **contestant, way.name); !came)
        return came;
    const auto cpuBefore = cpuTimes();
    const auto start = Clock::now();
    const auto returnedBefore = side.returned(), offeredBefore = side.offered();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    const auto returned = static_cast<double>(side.returned() - returnedBefore);
    const auto offered = static_cast<double>(side.offered() - offeredBefore);
    const double took = std::chrono::duration<double>(Clock::now() - start).count();
    const auto cpuAfter = cpuTimes();
    if (auto stopped = offer.stop(); !stopped)
        return stopped;
    if (!cpuBefore || !cpuAfter)
        return std::unexpected(cpuBefore ? cpuAfter.error() : cpuBefore.error());
    if (side.wrong() != wrongBefore)
        return fail("{} frames came back from {} that are not what was sent with its addresses swapped",
                    side.wrong() - wrongBefore, way.name);
    constexpr double million = 1e6;
    runs.mpps.push_back(returned / took / million);
    // What was under way at the start may come back in addition.
    runs.loss.push_back(offered > 0 ? std::max(0.0, 1 - returned / offered) : 0);
    runs.user.push_back((cpuAfter->user - cpuBefore->user) / took);
    runs.system.push_back((cpuAfter->system - cpuBefore->system) / took);
    runs.softirq.push_back((cpuAfter->softirq - cpuBefore->softirq) / took);
    return {};
}
} // namespace

CpuTimes cpuTimesOf(const std::string& stat, double ticksPerSecond) {
    std::istringstream line{stat};
    std::string cpu;
    // user nice system idle iowait irq softirq: proc_stat(5)
    std::array<double, 7> ticks{};
    line >> cpu;
    for (auto& value : ticks)
        line >> value;
    return {(ticks[0] + ticks[1]) / ticksPerSecond, ticks[2] / ticksPerSecond,
            (ticks[5] + ticks[6]) / ticksPerSecond};
}

MeanAndDeviation meanAndDeviation(const std::vector<double>& values) {
    if (values.empty())
        return {};
    const auto count = static_cast<double>(values.size());
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    return {mean, values.size() < 2 ? 0 : std::sqrt(squares / (count - 1))};
}

double secondsOf(const FunctionsOptions& options) {
    return static_cast<double>(options.rounds) * static_cast<double>(ways().size()) *
           (options.seconds + warmUpSeconds);
}

Result<std::string> findWorkload(const std::string& named) {
    const auto here = ownFolder();
    const std::vector<std::filesystem::path> places =
        named.empty() ? std::vector<std::filesystem::path>{here / "../../functions/workload/tna-workload",
                                                           here / "tna-workload", "/usr/bin/tna-workload"}
                      : std::vector<std::filesystem::path>{named};
    for (const auto& place : places)
        if (::access(place.c_str(), X_OK) == 0)
            return place.lexically_normal().string();
    return std::unexpected(
        Error{"cannot run tna-workload", {}, "build or install it, or name it with --workload"});
}

Result<std::vector<FunctionsRuns>> measureFunctions(const FunctionsOptions& options, Watcher& watcher) {
    const auto workload = findWorkload(options.workload);
    if (!workload)
        return std::unexpected(workload.error());
    if (options.cpus == 2 && lastCpu() == 0)
        return fail("this machine has one processor only: --cpus 2 needs another one for user space");
    const auto side = FarSide::make();
    if (!side)
        return std::unexpected(side.error());
    const Contest contest{**side, options.tnad, *workload, options.cpus == 1 ? lastCpu() : 0};
    std::vector<FunctionsRuns> runs;
    for (const auto& way : ways())
        runs.push_back({.name = way.name, .what = way.what});
    for (unsigned round = 0; round < options.rounds && !watcher.interrupted(); round++) {
        watcher.progress("functions", round, options.rounds);
        for (const auto turn : turnsOfRound(runs.size(), round))
            if (auto done = measureWay(contest, ways().at(turn), options.seconds, runs.at(turn)); !done)
                return std::unexpected(done.error());
    }
    return runs;
}

} // namespace tna::bench
