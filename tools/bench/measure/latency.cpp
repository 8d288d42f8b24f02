// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/latency.hpp"

#include "bench/measure/line_up.hpp"
#include "bench/measure/turns.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

namespace tna::bench {

namespace {
using Entrants = std::vector<Entrant>;

/// What the slowest can carry without loss, so that all can be compared at the same rates.
Result<LatencyResult> findCapacity(const LatencyOptions& options, Entrants& entrants, Watcher& watcher) {
    LatencyResult result;
    for (auto& entrant : entrants) {
        if (!entrant.lane || watcher.interrupted())
            continue;
        watcher.progress("how much does it carry: " + entrant.name, 0, 1);
        const auto found = findNoLossRate(*entrant.lane, options.search);
        if (!found)
            return std::unexpected(found.error());
        if (found->rate <= 0) {
            entrant.withdraw({"it loses frames at every rate", {}, {}});
            continue;
        }
        if (result.slowest.empty() || found->rate < result.capacity) {
            result.capacity = found->rate;
            result.slowest = entrant.name;
        }
    }
    return result;
}

Result<void> turn(const LatencyOptions& options, Lane& lane, LatencySeries& series) {
    const Turn turn{lane.contender()};
    if (!turn.begun())
        return std::unexpected(turn.begun().error());
    auto& traffic = lane.traffic();
    if (auto watching = traffic.sink().watch(options.roundTrip ? TrafficSink::Watch::roundTrips
                                                               : TrafficSink::Watch::latency);
        !watching)
        return watching;
    const auto before = traffic.counters();
    const auto load = Load::paced(traffic, series.wantedRate, options.setup.reverse);
    std::this_thread::sleep_for(std::chrono::duration<double>(options.seconds));
    auto sent = load->stop();
    const auto after = traffic.settle();
    const auto latencies = traffic.sink().takeLatencies();
    if (auto back = traffic.sink().watch(TrafficSink::Watch::nothing); !back)
        return back;
    if (!sent)
        return sent;
    series.latencies.add(latencies);
    series.medians.push_back(latencies.quantile(0.5));
    const auto passed = after.since(before);
    series.sent += passed.sent;
    series.lost +=
        options.roundTrip ? passed.sent - std::min(passed.sent, passed.receivedBack) : passed.lost();
    return {};
}
} // namespace

Result<LatencyResult> measureLatency(const LatencyOptions& options, Watcher& watcher) {
    auto entrants = lineUp(options.contenders, options.tnad, options.setup, watcher,
                           [&](const auto& name) { watcher.progress("preparing " + name, 0, 1); });
    if (!entrants)
        return std::unexpected(entrants.error());
    auto result = findCapacity(options, *entrants, watcher);
    if (!result)
        return result;
    for (const unsigned load : options.loads)
        for (const auto& entrant : *entrants)
            result->series.push_back({entrant.name,
                                      load,
                                      result->capacity * load / 100,
                                      {},
                                      {},
                                      0,
                                      0,
                                      entrant.notMeasured,
                                      remarksOf(entrant)});
    const auto total = static_cast<unsigned>(result->series.size()) * options.rounds;
    unsigned done = 0;
    for (unsigned round = 0; round < options.rounds; round++)
        for (std::size_t load = 0; load < options.loads.size(); load++)
            for (const auto index : turnsOfRound(entrants->size(), round)) {
                auto& series = result->series[load * entrants->size() + index];
                if (watcher.interrupted())
                    return result;
                watcher.progress(fmt::format("{} at {} %", series.contender, series.load), done++, total);
                if (!(*entrants)[index].lane)
                    continue;
                if (auto played = turn(options, *(*entrants)[index].lane, series); !played)
                    return std::unexpected(played.error());
            }
    return result;
}

} // namespace tna::bench
