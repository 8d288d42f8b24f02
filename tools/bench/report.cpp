// SPDX-License-Identifier: Apache-2.0
#include "bench/report.hpp"

#include "base/file.hpp"
#include "bench/statistics.hpp"

#include <algorithm>
#include <sys/utsname.h>
#include <thread>

namespace tna::bench {

namespace {
std::vector<double> ratesOf(const Series& series) {
    std::vector<double> rates;
    for (const auto& sample : series.rounds)
        rates.push_back(sample.mpps());
    return rates;
}

const Series* find(const std::vector<Series>& all, const Series& like, const std::string& contender) {
    const auto it = std::ranges::find_if(all, [&](const Series& series) {
        return series.contender == contender && series.flows == like.flows && series.cpus == like.cpus;
    });
    return it == all.end() || it->rounds.empty() ? nullptr : &*it;
}

std::string ratioCell(const std::vector<Series>& all, const Series& series, const std::string& base) {
    const auto* against = find(all, series, base);
    if (against == nullptr)
        return "-";
    const auto summary = summarise(ratios(ratesOf(series), ratesOf(*against)));
    return fmt::format("{:.2f} ({:.2f}-{:.2f})", summary.median, summary.lowerQuartile,
                       summary.upperQuartile);
}

std::string row(const std::vector<Series>& all, const Series& series) {
    const auto head = fmt::format("{:>8} {:>4}  {:<10}", series.flows, series.cpus, series.contender);
    if (series.rounds.empty())
        return fmt::format("{}  not measured: {}\n", head, series.notMeasured);
    const auto rate = summarise(ratesOf(series));
    std::vector<double> cost;
    std::uint64_t generated = 0;
    std::uint64_t received = 0;
    for (const auto& sample : series.rounds) {
        cost.push_back(sample.nsPerFrame());
        generated += sample.generated;
        received += sample.received;
    }
    const double loss = generated > received ? 100.0 * static_cast<double>(generated - received) /
                                                   static_cast<double>(generated)
                                             : 0;
    return fmt::format("{}  {:<18} {:<18} {:>6.2f} ({:.2f}-{:.2f})  {:>6.0f}  {:>5.2f}\n", head,
                       ratioCell(all, series, "ceiling"), ratioCell(all, series, "linux"), rate.median,
                       rate.lowerQuartile, rate.upperQuartile, summarise(cost).median, loss);
}
} // namespace

nlohmann::json describeMachine() {
    utsname name{};
    ::uname(&name);
    std::string cpu = "unknown";
    if (const auto text = readFile("/proc/cpuinfo"))
        if (const auto at = text->find("model name"); at != std::string::npos)
            cpu = text->substr(text->find(": ", at) + 2, text->find('\n', at) - text->find(": ", at) - 2);
    auto load = readFile("/proc/loadavg");
    if (load && load->ends_with('\n'))
        load->pop_back();
    return {{"kernel", name.release},
            {"cpu", cpu},
            {"cpus", std::thread::hardware_concurrency()},
            {"load_before", load ? *load : ""}};
}

std::string renderTable(const std::vector<Series>& all) {
    std::string table = "Median of all rounds, quartiles in brackets; ratios are taken round by round.\n\n"
                        "stations CPUs  contender   x ceiling          x linux              Mpps             "
                        "  ns/frame  loss %\n";
    for (const auto& series : all)
        table += row(all, series);
    return table;
}

nlohmann::json resultDocument(const ThroughputOptions& options, const nlohmann::json& machine,
                              const std::vector<Series>& all) {
    nlohmann::json series = nlohmann::json::array();
    for (const auto& one : all) {
        nlohmann::json rounds = nlohmann::json::array();
        for (const auto& sample : one.rounds)
            rounds.push_back({{"seconds", sample.seconds},
                              {"generated", sample.generated},
                              {"received", sample.received},
                              {"wrong", sample.wrong},
                              {"cpu_seconds", sample.cpuSeconds}});
        series.push_back(
            {{"contender", one.contender},
             {"flows", one.flows},
             {"cpus", one.cpus},
             {"rounds", rounds},
             {"not_measured", one.notMeasured.empty() ? nlohmann::json() : nlohmann::json(one.notMeasured)}});
    }
    return {{"version", 1},
            {"scenario", "bridge"},
            {"machine", machine},
            {"options",
             {{"frame_size", options.frameSize}, {"rounds", options.rounds}, {"seconds", options.seconds}}},
            {"series", series}};
}

} // namespace tna::bench
