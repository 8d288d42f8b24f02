// SPDX-License-Identifier: Apache-2.0
#include "bench/throughput.hpp"

#include "bench/lane.hpp"
#include "bench/turns.hpp"

#include <algorithm>
#include <iterator>
#include <memory>

namespace tna::bench {

namespace {

/// All contenders under one load.
class Match {
public:
    Match(const ThroughputOptions& options, const Setup& setup) : options_(options) {
        for (const auto& name : options.contenders)
            series_.push_back({name, setup.flows, setup.queues, {}, {}});
        lanes_.resize(series_.size());
    }

    /// Fails if a contender that must be there does not start; other failures are its own.
    Result<void> ready(std::size_t index, const Setup& setup) {
        auto contender = makeContender(series_[index].contender, options_.tnad);
        const bool optional = contender->optional();
        auto lane = Lane::open(std::move(contender), setup);
        if (lane)
            lanes_[index] = std::move(*lane);
        else if (optional)
            series_[index].notMeasured = lane.error().sentence();
        else
            return std::unexpected(lane.error());
        return {};
    }

    void turn(std::size_t index) {
        if (!lanes_[index])
            return;
        const auto sample = lanes_[index]->measure({options_.seconds, options_.leastFrames});
        if (sample) {
            series_[index].rounds.push_back(*sample);
            return;
        }
        series_[index].notMeasured = sample.error().sentence();
        lanes_[index].reset();
    }

    [[nodiscard]] const std::string& name(std::size_t index) const { return series_[index].contender; }
    [[nodiscard]] std::vector<Series> take() { return std::move(series_); }

private:
    const ThroughputOptions& options_;
    std::vector<Series> series_;
    std::vector<std::unique_ptr<Lane>> lanes_;
};

/// Counts turns over all loads.
struct Progress {
    Watcher& watcher;
    unsigned total;
    unsigned done = 0;
};

Result<std::vector<Series>> play(const ThroughputOptions& options, const Setup& setup, Progress& progress) {
    const auto title = fmt::format("{} stations, {} CPU: ", setup.flows, setup.queues);
    Match match{options, setup};
    for (std::size_t index = 0; index < options.contenders.size(); index++) {
        progress.watcher.progress(title + "preparing " + match.name(index), progress.done, progress.total);
        if (auto ready = match.ready(index, setup); !ready)
            return std::unexpected(ready.error());
        if (progress.watcher.interrupted())
            return match.take();
    }
    for (unsigned round = 0; round < options.rounds; round++)
        for (const auto turn : turnsOfRound(options.contenders.size(), round)) {
            if (progress.watcher.interrupted())
                return match.take();
            progress.watcher.progress(title + match.name(turn), progress.done++, progress.total);
            match.turn(turn);
        }
    return match.take();
}
} // namespace

Result<std::vector<Series>> measureThroughput(const ThroughputOptions& options, Watcher& watcher) {
    std::vector<Series> all;
    Progress progress{watcher, static_cast<unsigned>(options.cpus.size() * options.stations.size() *
                                                     options.contenders.size()) *
                                   options.rounds};
    for (const unsigned cpus : options.cpus)
        for (const unsigned stations : options.stations) {
            auto series = play(options, {options.scenario, stations, options.routes, cpus, options.frameSize},
                               progress);
            if (!series)
                return std::unexpected(series.error());
            std::ranges::move(*series, std::back_inserter(all));
            if (watcher.interrupted())
                return all;
        }
    return all;
}

} // namespace tna::bench
