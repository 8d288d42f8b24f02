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

std::vector<double> costsOf(const Series& series) {
    std::vector<double> costs;
    for (const auto& sample : series.rounds)
        costs.push_back(sample.nsPerFrame());
    return costs;
}

const Series* find(const std::vector<Series>& all, const Series& like, const std::string& contender) {
    const auto it = std::ranges::find_if(all, [&](const Series& series) {
        return series.contender == contender && series.stations == like.stations && series.cpus == like.cpus;
    });
    return it == all.end() || it->rounds.empty() || !it->notMeasured.empty() ? nullptr : &*it;
}

std::string spread(const std::vector<double>& values) {
    const auto summary = summarise(values);
    return fmt::format("{:.2f} ({:.2f}-{:.2f})", summary.median, summary.lowerQuartile,
                       summary.upperQuartile);
}

std::vector<double> ratiosTo(const std::vector<Series>& all, const Series& series, const std::string& base) {
    const auto* against = find(all, series, base);
    return against == nullptr ? std::vector<double>{} : ratios(ratesOf(series), ratesOf(*against));
}

std::string ratioCell(const std::vector<Series>& all, const Series& series, const std::string& base) {
    const auto values = ratiosTo(all, series, base);
    return values.empty() ? "-" : spread(values);
}

/// What forwarding costs by itself: without what generator and sink cost alone, in the same round.
std::vector<double> hopsOf(const std::vector<Series>& all, const Series& series) {
    const auto* alone = find(all, series, "direct");
    std::vector<double> hops;
    if (alone == nullptr || alone == &series)
        return hops;
    const auto costs = costsOf(series);
    const auto base = costsOf(*alone);
    for (std::size_t i = 0; i < std::min(costs.size(), base.size()); i++)
        hops.push_back(costs[i] - base[i]);
    return hops;
}

std::string hopCell(const std::vector<Series>& all, const Series& series) {
    const auto hops = hopsOf(all, series);
    return hops.empty() ? "-" : fmt::format("{:.0f}", summarise(hops).median);
}

struct Account {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    std::uint64_t lost = 0;
    std::uint64_t slow = 0;
    std::size_t suspectRounds = 0;
};

Account accountOf(const Series& series) {
    Account sum;
    for (const auto& sample : series.rounds) {
        sum.sent += sample.total.sent;
        sum.received += sample.total.received;
        sum.lost += sample.lost();
        sum.slow += sample.slow.value_or(0);
        sum.suspectRounds += sample.suspect() ? 1 : 0;
    }
    return sum;
}

std::string row(const std::vector<Series>& all, const Series& series) {
    const auto head = fmt::format("{:>8} {:>4}  {:<10}", series.stations, series.cpus, series.contender);
    if (series.rounds.empty() || !series.notMeasured.empty())
        return fmt::format("{}  not measured\n", head);
    const auto account = accountOf(series);
    return fmt::format("{}  {:<18} {:<18} {:<18} {:>5.0f} {:>5} {:>11} {:>11} {:>9}{}\n", head,
                       ratioCell(all, series, "ceiling"), ratioCell(all, series, "linux"),
                       spread(ratesOf(series)), summarise(costsOf(series)).median, hopCell(all, series),
                       account.sent, account.received, account.lost, account.suspectRounds > 0 ? " !" : "");
}

nlohmann::json summaryDocument(const std::vector<double>& values) {
    if (values.empty())
        return nullptr;
    const auto summary = summarise(values);
    return {{"median", summary.median},
            {"min", summary.least},
            {"max", summary.most},
            {"quartiles", {summary.lowerQuartile, summary.upperQuartile}}};
}

nlohmann::json roundDocument(const Sample& sample) {
    return {{"mpps", sample.mpps()},
            {"ns_per_frame", sample.nsPerFrame()},
            {"seconds", sample.seconds},
            {"cpu_seconds", sample.cpuSeconds},
            {"received_in_time", sample.received},
            {"sent", sample.total.sent},
            {"received", sample.total.received},
            {"lost", sample.lost()},
            {"slow", sample.slow ? nlohmann::json(*sample.slow) : nlohmann::json()},
            {"suspect", sample.suspect()}};
}
} // namespace

nlohmann::json describeMachine() {
    utsname name{};
    ::uname(&name);
    std::string cpu = "unknown CPU";
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

std::string machineLine(const nlohmann::json& machine) {
    const auto load = machine["load_before"].get<std::string>();
    return fmt::format("kernel {}, {} x {}, load {} before", machine["kernel"].get<std::string>(),
                       machine["cpus"].get<unsigned>(), machine["cpu"].get<std::string>(),
                       load.substr(0, load.find(' ')));
}

std::string renderTable(const std::vector<Series>& all) {
    std::string table = "Median of all rounds, first and third quartile in brackets; ratios and hops (ns per "
                        "frame without what\n"
                        "generator and sink cost by themselves) are taken round by round.\n\n"
                        "stations CPUs  contender   x ceiling          x linux            Mpps               "
                        "ns/fr   hop        "
                        "sent    received      lost\n";
    for (const auto& series : all)
        if (!series.rounds.empty() || !series.notMeasured.empty())
            table += row(all, series);
    return table;
}

std::vector<std::string> remarks(const std::vector<Series>& all) {
    std::vector<std::string> list;
    for (const auto& series : all) {
        const auto load =
            fmt::format("{} with {} stations on {} CPU", series.contender, series.stations, series.cpus);
        if (!series.notMeasured.empty())
            list.push_back(fmt::format("{} was not measured: {}", load, series.notMeasured));
        const auto account = accountOf(series);
        if (account.suspectRounds > 0)
            list.push_back(fmt::format("! {}: in {} of {} rounds not all was fast, {} frames went to Linux",
                                       load, account.suspectRounds, series.rounds.size(), account.slow));
    }
    return list;
}

nlohmann::json resultDocument(const ThroughputOptions& options, const nlohmann::json& machine,
                              const std::vector<Series>& all) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& series : all) {
        nlohmann::json rounds = nlohmann::json::array();
        for (const auto& sample : series.rounds)
            rounds.push_back(roundDocument(sample));
        list.push_back({{"contender", series.contender},
                        {"stations", series.stations},
                        {"cpus", series.cpus},
                        {"mpps", summaryDocument(ratesOf(series))},
                        {"ns_per_frame", summaryDocument(costsOf(series))},
                        {"hop_ns", summaryDocument(hopsOf(all, series))},
                        {"x_ceiling", summaryDocument(ratiosTo(all, series, "ceiling"))},
                        {"x_linux", summaryDocument(ratiosTo(all, series, "linux"))},
                        {"rounds", rounds},
                        {"not_measured", series.notMeasured.empty() ? nlohmann::json()
                                                                    : nlohmann::json(series.notMeasured)}});
    }
    return {{"version", 2},
            {"command", "throughput"},
            {"machine", machine},
            {"options",
             {{"scenario", nameOf(options.scenario)},
              {"routes", options.routes},
              {"frame_size", options.frameSize},
              {"rounds", options.rounds},
              {"seconds", options.seconds}}},
            {"series", list}};
}

} // namespace tna::bench
