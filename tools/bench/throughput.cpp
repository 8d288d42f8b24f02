// SPDX-License-Identifier: Apache-2.0
#include "bench/throughput.hpp"

#include "bench/contender.hpp"

#include <algorithm>
#include <map>

namespace tna::bench {

namespace {
constexpr unsigned stations = 256;
constexpr unsigned checkFrames = 1024;
constexpr double warmUpSeconds = 0.06;

/// All contenders under one load.
class Load {
public:
    Load(const ThroughputOptions& options, unsigned flows, unsigned cpus) : options_(options), cpus_(cpus) {
        for (const auto& name : options.contenders) {
            series_.push_back({name, flows, cpus, {}, {}});
            contenders_.push_back(makeContender(name));
        }
    }

    void round(Traffic& traffic, bool reversed) {
        for (std::size_t i = 0; i < series_.size(); i++)
            turn(traffic, reversed ? series_.size() - 1 - i : i);
    }

    [[nodiscard]] std::vector<Series> take() { return std::move(series_); }

private:
    void turn(Traffic& traffic, std::size_t index) {
        auto& series = series_[index];
        if (!series.notMeasured.empty())
            return;
        auto& contender = *contenders_[index];
        if (auto started = contender.start(traffic); !started) {
            series.notMeasured = started.error().sentence();
            return;
        }
        if (series.rounds.empty())
            series.notMeasured = verify(traffic);
        if (series.notMeasured.empty()) {
            if (auto sample = traffic.measure(cpus_, warmUpSeconds, options_.seconds))
                series.rounds.push_back(*sample);
            else
                series.notMeasured = sample.error().sentence();
        }
        contender.stop();
    }

    /// A paced handful of frames must arrive, all and whole, before anything is timed.
    static std::string verify(Traffic& traffic) {
        const auto sample = traffic.check(checkFrames);
        if (!sample)
            return sample.error().sentence();
        if (sample->received != sample->generated || sample->wrong != 0)
            return fmt::format("it does not forward correctly: {} of {} frames arrived, {} of them changed",
                               sample->received, sample->generated, sample->wrong);
        return {};
    }

    const ThroughputOptions& options_;
    unsigned cpus_;
    std::vector<Series> series_;
    std::vector<std::unique_ptr<Contender>> contenders_;
};
} // namespace

Result<std::vector<Series>> measureThroughput(const ThroughputOptions& options, const Progress& progress,
                                              const std::function<bool()>& interrupted) {
    std::vector<Series> all;
    const auto total = static_cast<unsigned>(options.cpus.size() * options.flows.size()) * options.rounds;
    unsigned done = 0;
    for (const unsigned cpus : options.cpus)
        for (const unsigned flows : options.flows) {
            const auto topology = BridgeTopology::make(cpus, stations);
            if (!topology)
                return std::unexpected(topology.error());
            auto traffic = Traffic::load(*topology, flows, options.frameSize);
            if (!traffic)
                return std::unexpected(traffic.error());
            auto inside = NamespaceScope::enter(topology->device());
            if (!inside)
                return std::unexpected(inside.error());
            Load load{options, flows, cpus};
            for (unsigned round = 0; round < options.rounds && !interrupted(); round++) {
                progress(fmt::format("{} stations, {} CPU", flows, cpus), done++, total);
                load.round(**traffic, round % 2 == 1);
            }
            std::ranges::move(load.take(), std::back_inserter(all));
        }
    return all;
}

} // namespace tna::bench
