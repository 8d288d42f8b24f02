// SPDX-License-Identifier: Apache-2.0
#include "bench/latency.hpp"

#include "bench/lane.hpp"
#include "bench/statistics.hpp"
#include "bench/turns.hpp"

#include <chrono>
#include <thread>

namespace tna::bench {

namespace {
constexpr unsigned capacityRounds = 5;
constexpr Duration capacityDuration{0.05, 1000};

using Lanes = std::vector<std::unique_ptr<Lane>>;

Result<Lanes> openLanes(const LatencyOptions& options) {
    Lanes lanes;
    for (const auto& name : options.contenders) {
        auto lane = Lane::open(makeContender(name, options.tnad),
                               {options.scenario, options.stations, 1, 1, options.frameSize});
        if (!lane)
            return std::unexpected(
                Error{fmt::format("cannot measure {}", name), lane.error().sentence(), {}});
        lanes.push_back(std::move(*lane));
    }
    return lanes;
}

/// What the slowest can carry, so that all can be compared at the same rates.
Result<LatencyResult> findCapacity(const LatencyOptions& options, Lanes& lanes) {
    LatencyResult result;
    for (std::size_t index = 0; index < lanes.size(); index++) {
        std::vector<double> rates;
        for (unsigned round = 0; round < capacityRounds; round++) {
            const auto sample = lanes[index]->measure(capacityDuration);
            if (!sample)
                return std::unexpected(sample.error());
            rates.push_back(static_cast<double>(sample->received) / sample->seconds);
        }
        const double rate = summarise(rates).median;
        if (result.slowest.empty() || rate < result.capacity) {
            result.capacity = rate;
            result.slowest = options.contenders[index];
        }
    }
    return result;
}

Result<void> turn(const LatencyOptions& options, Lane& lane, LatencySeries& series) {
    auto& traffic = lane.traffic();
    if (auto watching = traffic.watchLatency(true); !watching)
        return watching;
    const auto before = traffic.counters();
    const auto load = Load::paced(traffic, series.wantedRate);
    std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
    auto sent = load->stop();
    const auto after = traffic.settle();
    const auto latencies = traffic.takeLatencies();
    if (auto back = traffic.watchLatency(false); !back)
        return back;
    if (!sent)
        return sent;
    series.latencies.add(latencies);
    series.medians.push_back(latencies.quantile(0.5));
    series.sent += after.sent - before.sent;
    series.lost += (after.sent - before.sent) - (after.received - before.received);
    return {};
}
} // namespace

Result<LatencyResult> measureLatency(const LatencyOptions& options, Watcher& watcher) {
    watcher.progress("preparing", 0, 1);
    auto lanes = openLanes(options);
    if (!lanes)
        return std::unexpected(lanes.error());
    auto result = findCapacity(options, *lanes);
    if (!result)
        return result;
    for (const unsigned load : options.loads)
        for (const auto& name : options.contenders)
            result->series.push_back({name, load, result->capacity * load / 100, {}, {}, 0, 0});
    const auto total = static_cast<unsigned>(result->series.size()) * options.rounds;
    unsigned done = 0;
    for (unsigned round = 0; round < options.rounds; round++)
        for (std::size_t load = 0; load < options.loads.size(); load++)
            for (const auto index : turnsOfRound(lanes->size(), round)) {
                auto& series = result->series[load * lanes->size() + index];
                if (watcher.interrupted())
                    return result;
                watcher.progress(fmt::format("{} at {} %", series.contender, series.load), done++, total);
                if (auto played = turn(options, *(*lanes)[index], series); !played)
                    return std::unexpected(played.error());
            }
    return result;
}

} // namespace tna::bench
