// SPDX-License-Identifier: Apache-2.0
#include "bench/throughput.hpp"

#include "bench/contender.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

namespace tna::bench {

namespace {

/// All contenders under one load.
class Match {
public:
    Match(const ThroughputOptions& options, unsigned stations, unsigned cpus)
        : options_(options), cpus_(cpus) {
        for (const auto& name : options.contenders) {
            series_.push_back({name, stations, cpus, {}, {}});
            contenders_.push_back(makeContender(name, options.tnad));
        }
    }

    /// Fails if a contender that must be there does not start; other failures are its own.
    Result<void> turn(Traffic& traffic, std::size_t index) {
        auto& series = series_[index];
        auto& contender = *contenders_[index];
        if (!series.notMeasured.empty())
            return {};
        auto started = contender.start(traffic);
        if (!started && !contender.optional())
            return started;
        const auto sample =
            started ? measureOne(contender, traffic) : Result<Sample>{std::unexpected(started.error())};
        contender.stop();
        if (sample)
            series.rounds.push_back(*sample);
        else
            series.notMeasured = sample.error().sentence();
        return {};
    }

    [[nodiscard]] const std::string& name(std::size_t index) const { return series_[index].contender; }
    [[nodiscard]] std::vector<Series> take() { return std::move(series_); }

private:
    Result<Sample> measureOne(Contender& contender, Traffic& traffic) {
        if (auto verified = traffic.verify(); !verified)
            return std::unexpected(verified.error());
        const auto slowBefore = contender.slowFrames();
        if (!slowBefore)
            return std::unexpected(slowBefore.error());
        auto sample = measure(traffic, cpus_, {options_.seconds, options_.leastFrames});
        const auto slowAfter = contender.slowFrames();
        if (!slowAfter)
            return std::unexpected(slowAfter.error());
        if (sample && *slowAfter)
            sample->slow = **slowAfter - slowBefore->value_or(0);
        return sample;
    }

    const ThroughputOptions& options_;
    unsigned cpus_;
    std::vector<Series> series_;
    std::vector<std::unique_ptr<Contender>> contenders_;
};

/// Counts turns over all loads.
struct Progress {
    Watcher& watcher;
    unsigned total;
    unsigned done = 0;
};

Result<std::vector<Series>> play(const ThroughputOptions& options, unsigned stations, unsigned cpus,
                                 Progress& progress) {
    const auto topology = BridgeTopology::make(cpus, stations);
    if (!topology)
        return std::unexpected(topology.error());
    auto traffic = Traffic::load(*topology, stations, options.frameSize);
    if (!traffic)
        return std::unexpected(traffic.error());
    auto inside = NamespaceScope::enter(topology->device());
    if (!inside)
        return std::unexpected(inside.error());
    Match match{options, stations, cpus};
    for (unsigned round = 0; round < options.rounds; round++)
        for (const auto turn : turnsOfRound(options.contenders.size(), round)) {
            if (progress.watcher.interrupted())
                return match.take();
            progress.watcher.progress(
                fmt::format("{} stations, {} CPU: {}", stations, cpus, match.name(turn)), progress.done++,
                progress.total);
            if (auto played = match.turn(**traffic, turn); !played)
                return std::unexpected(played.error());
        }
    return match.take();
}
} // namespace

std::vector<std::size_t> turnsOfRound(std::size_t count, unsigned round) {
    std::vector<std::size_t> turns(count);
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    if (count == 0)
        return turns;
    std::ranges::rotate(turns, turns.begin() + static_cast<std::ptrdiff_t>(round / 2 % count));
    if (round % 2 == 1)
        std::ranges::reverse(turns);
    return turns;
}

Result<std::vector<Series>> measureThroughput(const ThroughputOptions& options, Watcher& watcher) {
    std::vector<Series> all;
    Progress progress{watcher, static_cast<unsigned>(options.cpus.size() * options.stations.size() *
                                                     options.contenders.size()) *
                                   options.rounds};
    for (const unsigned cpus : options.cpus)
        for (const unsigned stations : options.stations) {
            auto series = play(options, stations, cpus, progress);
            if (!series)
                return std::unexpected(series.error());
            std::ranges::move(*series, std::back_inserter(all));
            if (watcher.interrupted())
                return all;
        }
    return all;
}

} // namespace tna::bench
