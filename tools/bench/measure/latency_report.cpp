// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/latency_report.hpp"

#include "bench/results/document.hpp"
#include "bench/results/statistics.hpp"

#include <array>

namespace tna::bench {

namespace {
constexpr double thousand = 1000;
constexpr std::array<double, 4> parts{0.5, 0.9, 0.99, 0.999};
constexpr std::array<const char*, 4> partNames{"p50_ns", "p90_ns", "p99_ns", "p999_ns"};

/// How far apart latencies are, for people: the difference of the 99 % to the median.
double jitter(const Histogram& latencies) {
    return latencies.quantile(0.99) - latencies.quantile(0.5);
}

std::string row(const LatencySeries& series) {
    auto text =
        fmt::format("{:>4} % {:>7.3f}  {:<12}", series.load, series.wantedRate / 1e6, series.contender);
    if (series.latencies.total() == 0)
        return text +
               " not measured: " + (series.notMeasured.empty() ? "nothing arrived" : series.notMeasured) +
               "\n";
    for (const double part : parts)
        text += fmt::format(" {:>8.2f}", series.latencies.quantile(part) / thousand);
    const auto rounds = summarise(series.medians);
    text += fmt::format(
        " {:>9.2f} {:>8.2f}  {:<13} {:>9} {:>7}\n", series.latencies.largest() / thousand,
        jitter(series.latencies) / thousand,
        fmt::format("{:.2f}-{:.2f}", rounds.lowerQuartile / thousand, rounds.upperQuartile / thousand),
        series.sent, series.lost);
    return text;
}
} // namespace

std::string renderLatency(const LatencyOptions& options, const LatencyResult& result) {
    auto text = fmt::format(
        "Microseconds {}, of all frames of all rounds; jitter is p99 - p50; \"rounds\" are the quartiles of "
        "the "
        "rounds' p50.\n100 % is what {} carries without loss (RFC 2544): {:.3f} Mpps.\n\n"
        "  load    Mpps  contender          p50      p90      p99    p99.9       max   jitter  rounds        "
        "   "
        "  "
        "sent    lost\n",
        options.roundTrip ? "there and back" : "one way", result.slowest, result.capacity / 1e6);
    for (const auto& series : result.series)
        text += row(series);
    for (const auto& series : result.series)
        for (const auto& remark : series.remarks)
            if (const auto line = fmt::format("{}: {}\n", series.contender, remark); !text.contains(line))
                text += line;
    return text;
}

nlohmann::json latencyDocument(const LatencyOptions& options, const nlohmann::json& machine,
                               const LatencyResult& result) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& series : result.series) {
        nlohmann::json entry = {{"contender", series.contender},
                                {"load_percent", series.load},
                                {"wanted_mpps", series.wantedRate / 1e6},
                                {"mean_ns", series.latencies.mean()},
                                {"max_ns", series.latencies.largest()},
                                {"jitter_ns", jitter(series.latencies)},
                                {"round_p50_ns", series.medians},
                                {"histogram", series.latencies.entries()},
                                {"sent", series.sent},
                                {"lost", series.lost},
                                {"remarks", series.remarks},
                                {"not_measured", textOrNull(series.notMeasured)}};
        for (std::size_t i = 0; i < parts.size(); i++)
            entry[partNames.at(i)] = series.latencies.quantile(parts.at(i));
        list.push_back(std::move(entry));
    }
    auto described = setupDocument(options.setup);
    described.update({{"stations", options.setup.flows},
                      {"loss_percent", options.search.loss},
                      {"rounds", options.rounds},
                      {"seconds", options.seconds},
                      {"loads", options.loads},
                      {"round_trip", options.roundTrip},
                      {"contenders", options.contenders}});
    return {{"version", 4},         {"command", "latency"},      {"machine", machine},
            {"options", described}, {"slowest", result.slowest}, {"capacity_mpps", result.capacity / 1e6},
            {"series", list}};
}

} // namespace tna::bench
