// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/throughput.hpp"

#include "bench/measure/line_up.hpp"
#include "bench/measure/turns.hpp"

#include <algorithm>
#include <iterator>

namespace tna::bench {

namespace {

/// Counts turns over all loads.
struct Progress {
    Watcher& watcher;
    unsigned total;
    unsigned done = 0;
};

void turn(const ThroughputOptions& options, Entrant& entrant, Series& series) {
    if (!entrant.lane)
        return;
    const auto sample = entrant.lane->measure({options.seconds, options.leastFrames});
    if (sample)
        series.rounds.push_back(*sample);
    else
        entrant.withdraw(sample.error());
    series.notMeasured = entrant.notMeasured;
}

/// All contenders under one load.
Result<std::vector<Series>> play(const ThroughputOptions& options, const Setup& setup, Progress& progress) {
    const auto title = fmt::format("{} stations, {} CPU, {}: ", setup.flows, setup.queues, framesText(setup));
    const auto tell = [&](const std::string& what) {
        progress.watcher.progress(title + what, progress.done, progress.total);
    };
    auto entrants = lineUp(options.contenders, options.tnad, setup, progress.watcher,
                           [&](const std::string& name) { tell("preparing " + name); });
    if (!entrants)
        return std::unexpected(entrants.error());
    std::vector<Series> all;
    for (const auto& entrant : *entrants)
        all.push_back({entrant.name,
                       setup,
                       {},
                       entrant.notMeasured,
                       entrant.tcp,
                       entrant.cores,
                       remarksOf(entrant),
                       entrant.lane ? entrant.lane->devices() : std::vector<DeviceFacts>{}});
    for (unsigned round = 0; round < options.rounds; round++)
        for (const auto index : turnsOfRound(all.size(), round)) {
            if (progress.watcher.interrupted())
                return all;
            tell(all[index].contender);
            progress.done++;
            turn(options, (*entrants)[index], all[index]);
        }
    return all;
}
} // namespace

std::vector<Setup> loadsOf(const ThroughputOptions& options) {
    std::vector<Setup> loads{options.setup};
    const std::initializer_list<std::pair<const std::vector<unsigned>&, unsigned Setup::*>> axes{
        {options.sizes, &Setup::frameSize},
        {options.cpus, &Setup::queues},
        {options.routes, &Setup::routes},
        {options.rules, &Setup::rules},
        {options.routingRules, &Setup::routingRules},
        {options.entries, &Setup::entries},
        {options.ruleChanges, &Setup::ruleChanges},
        {options.stations, &Setup::flows}};
    for (const auto& [values, field] : axes) {
        std::vector<Setup> more;
        for (const auto& load : loads)
            for (const unsigned value : values) {
                more.push_back(load);
                more.back().*field = value;
            }
        loads = std::move(more);
    }
    return loads;
}

Result<std::vector<Series>> measureThroughput(const ThroughputOptions& options, Watcher& watcher) {
    std::vector<Series> all;
    const auto loads = loadsOf(options);
    Progress progress{watcher,
                      static_cast<unsigned>(loads.size() * options.contenders.size()) * options.rounds};
    for (const auto& setup : loads) {
        auto series = play(options, setup, progress);
        if (!series)
            return std::unexpected(series.error());
        std::ranges::move(*series, std::back_inserter(all));
        if (watcher.interrupted())
            return all;
    }
    return all;
}

} // namespace tna::bench
