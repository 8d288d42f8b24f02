// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/throughput_report.hpp"

#include "bench/results/document.hpp"
#include "bench/results/statistics.hpp"

#include <algorithm>
#include <fmt/ranges.h>
#include <tuple>

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

bool sameLoad(const Setup& one, const Setup& other) {
    const auto key = [](const Setup& setup) {
        return std::tuple{setup.flows, setup.queues,       setup.frameSize, setup.routes,
                          setup.rules, setup.routingRules, setup.entries,   setup.ruleChanges};
    };
    return key(one) == key(other);
}

const Series* find(const std::vector<Series>& all, const Series& like, const std::string& contender) {
    const auto it = std::ranges::find_if(all, [&](const Series& series) {
        return series.contender == contender && sameLoad(series.setup, like.setup);
    });
    return it == all.end() || it->rounds.empty() || !it->notMeasured.empty() ? nullptr : &*it;
}

std::vector<double> ratiosTo(const std::vector<Series>& all, const Series& series, const std::string& base) {
    const auto* against = find(all, series, base);
    return against == nullptr ? std::vector<double>{} : ratios(ratesOf(series), ratesOf(*against));
}

std::string ratioCell(const std::vector<Series>& all, const Series& series, const std::string& base) {
    const auto values = ratiosTo(all, series, base);
    return spreadText(values);
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
    std::uint64_t late = 0;
    std::uint64_t twice = 0;
    std::uint64_t slow = 0;
    std::size_t suspectRounds = 0;
    std::size_t disturbedRounds = 0;
};

Account accountOf(const Series& series) {
    Account sum;
    for (const auto& sample : series.rounds) {
        sum.sent += sample.total.sent;
        sum.received += sample.total.received;
        sum.lost += sample.lost();
        sum.late += sample.total.late;
        sum.twice += sample.total.twice;
        sum.slow += sample.slow.value_or(0);
        sum.suspectRounds += sample.suspect() ? 1 : 0;
        sum.disturbedRounds += sample.disturbed() ? 1 : 0;
    }
    return sum;
}

std::vector<double> fastPartsOf(const Series& series) {
    std::vector<double> parts;
    for (const auto& sample : series.rounds)
        if (const auto fast = sample.fast())
            parts.push_back(*fast);
    return parts;
}

std::string fastCell(const Series& series) {
    constexpr double percent = 100;
    const auto parts = fastPartsOf(series);
    return parts.empty() ? "-" : fmt::format("{:.1f}", summarise(parts).median * percent);
}

std::string sizeText(unsigned size) {
    return size == imix ? "IMIX" : std::to_string(size);
}

std::string row(const std::vector<Series>& all, const Series& series) {
    const auto& setup = series.setup;
    const auto head = fmt::format("{:>5} {:>8} {:>4}  {:<12}", sizeText(setup.frameSize), setup.flows,
                                  setup.queues, series.contender);
    if (series.rounds.empty() || !series.notMeasured.empty())
        return fmt::format("{} not measured: {}\n", head, series.notMeasured);
    const auto account = accountOf(series);
    return fmt::format(
        "{} {:<18} {:<18} {:<18} {:>5.0f} {:>5} {:>11} {:>11} {:>9} {:>5} {:>5} {:>5} {:>5} {:>6}{}{}\n",
        head, ratioCell(all, series, "ceiling"), ratioCell(all, series, "linux"), spreadText(ratesOf(series)),
        summarise(costsOf(series)).median, hopCell(all, series), account.sent, account.received, account.lost,
        account.late, account.twice, fastCell(series), series.cores, nameOf(series.tcp),
        account.suspectRounds > 0 ? " !" : "", account.disturbedRounds > 0 ? " ~" : "");
}

nlohmann::json hardwareDocument(const Sample& sample) {
    if (!sample.hardware)
        return nullptr;
    return {{"cycles", sample.hardware->cycles},
            {"instructions", sample.hardware->instructions},
            {"cache_misses", sample.hardware->cacheMisses}};
}

nlohmann::json roundDocument(const Sample& sample) {
    return {{"mpps", sample.mpps()},
            {"ns_per_frame", sample.nsPerFrame()},
            {"seconds", sample.seconds},
            {"cpu_seconds", sample.cpuSeconds},
            {"own_cpu_seconds", sample.ownCpuSeconds},
            {"received_in_time", sample.received},
            {"sent", sample.total.sent},
            {"received", sample.total.received},
            {"lost", sample.lost()},
            {"late", sample.total.late},
            {"twice", sample.total.twice},
            {"sent_back", sample.total.sentBack},
            {"received_back", sample.total.receivedBack},
            {"slow", sample.slow ? nlohmann::json(*sample.slow) : nlohmann::json()},
            {"fast", sample.fast() ? nlohmann::json(*sample.fast()) : nlohmann::json()},
            {"suspect", sample.suspect()},
            {"stolen", sample.stolen},
            {"disturbed", sample.disturbed()},
            {"hardware", hardwareDocument(sample)}};
}

/// Of one thing that is counted, for each frame, round by round.
std::vector<double> countsOf(const Series& series, std::uint64_t Hardware::* what) {
    std::vector<double> counts;
    for (const auto& sample : series.rounds)
        if (sample.hardware && sample.received > 0)
            counts.push_back(static_cast<double>((*sample.hardware).*what) /
                             static_cast<double>(sample.received));
    return counts;
}

std::string hardwareLine(const Series& series) {
    const auto cycles = countsOf(series, &Hardware::cycles);
    if (cycles.empty())
        return {};
    return fmt::format(
        "{:>5} {:>8} {:>4}  {:<12} for each frame: {:.0f} cycles, {:.0f} instructions, {:.2f} cache misses\n",
        "", "", "", series.contender, summarise(cycles).median,
        summarise(countsOf(series, &Hardware::instructions)).median,
        summarise(countsOf(series, &Hardware::cacheMisses)).median);
}

/// What there is more of than usual: a line above the loads that have it.
std::string amountsText(const Setup& setup) {
    std::vector<std::string> parts;
    const auto add = [&](unsigned amount, unsigned usual, const char* what) {
        if (amount != usual)
            parts.push_back(fmt::format("{} {}", amount, what));
    };
    add(setup.routes, 1, "routes");
    add(setup.rules, 0, "netfilter rules");
    add(setup.routingRules, 0, "routing rules");
    add(setup.entries, 0, "more stations");
    add(setup.ruleChanges, 0, "changes of the rules per second");
    add(setup.ports, 2, "ports");
    return fmt::format("{}", fmt::join(parts, ", "));
}
} // namespace

std::string renderTable(const std::vector<Series>& all) {
    std::string table =
        "Median of all rounds, first and third quartile in brackets; ratios and hops (ns per "
        "frame without what\n"
        "generator and sink cost by themselves) are taken round by round.\n\n"
        " size stations CPUs  contender    x ceiling          x linux            Mpps               "
        "ns/fr   hop        sent    received      lost  late twice fast% cores    TCP\n";
    std::string amounts;
    for (const auto& series : all) {
        if (series.rounds.empty() && series.notMeasured.empty())
            continue;
        if (auto text = amountsText(series.setup); text != amounts) {
            amounts = std::move(text);
            table += fmt::format("{}:\n", amounts.empty() ? "without these" : amounts);
        }
        table += row(all, series) + hardwareLine(series);
    }
    return table + "\n" + coresRemark();
}

std::vector<std::string> remarks(const std::vector<Series>& all) {
    std::vector<std::string> list;
    for (const auto& series : all) {
        const auto load = fmt::format("{} with {} stations on {} CPU", series.contender, series.setup.flows,
                                      series.setup.queues);
        const auto account = accountOf(series);
        if (account.suspectRounds > 0)
            list.push_back(fmt::format("! {}: in {} of {} rounds not all was fast, {} frames went to Linux",
                                       load, account.suspectRounds, series.rounds.size(), account.slow));
        if (account.disturbedRounds > 0)
            list.push_back(
                fmt::format("~ {}: in {} of {} rounds other machines of the host took processor time", load,
                            account.disturbedRounds, series.rounds.size()));
        for (const auto& remark : series.remarks)
            if (auto text = fmt::format("{}: {}", series.contender, remark);
                std::ranges::count(list, text) == 0)
                list.push_back(std::move(text));
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
                        {"frame_size", sizeDocument(series.setup.frameSize)},
                        {"stations", series.setup.flows},
                        {"cpus", series.setup.queues},
                        {"tcp", nameOf(series.tcp)},
                        {"cores", series.cores},
                        {"routes", series.setup.routes},
                        {"rules", series.setup.rules},
                        {"routing_rules", series.setup.routingRules},
                        {"entries", series.setup.entries},
                        {"rule_changes", series.setup.ruleChanges},
                        {"remarks", series.remarks},
                        {"devices", devicesDocument(series.devices)},
                        {"mpps", summaryDocument(ratesOf(series))},
                        {"ns_per_frame", summaryDocument(costsOf(series))},
                        {"fast", summaryDocument(fastPartsOf(series))},
                        {"hop_ns", summaryDocument(hopsOf(all, series))},
                        {"x_ceiling", summaryDocument(ratiosTo(all, series, "ceiling"))},
                        {"x_linux", summaryDocument(ratiosTo(all, series, "linux"))},
                        {"rounds", rounds},
                        {"not_measured", textOrNull(series.notMeasured)}});
    }
    auto described = setupDocument(options.setup);
    nlohmann::json sizes = nlohmann::json::array();
    for (const auto size : options.sizes)
        sizes.push_back(sizeDocument(size));
    described.update({{"frame_size", sizes.size() == 1 ? sizes.front() : sizes},
                      {"stations", options.stations},
                      {"cpus", options.cpus},
                      {"routes", options.routes},
                      {"rules", options.rules},
                      {"routing_rules", options.routingRules},
                      {"entries", options.entries},
                      {"rule_changes", options.ruleChanges},
                      {"rounds", options.rounds},
                      {"seconds", options.seconds},
                      {"contenders", options.contenders}});
    return {{"version", 4},
            {"command", "throughput"},
            {"machine", machine},
            {"options", described},
            {"series", list}};
}

} // namespace tna::bench
