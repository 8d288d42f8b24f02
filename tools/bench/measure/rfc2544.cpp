// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/rfc2544.hpp"

#include "bench/measure/turns.hpp"
#include "bench/results/document.hpp"
#include "bench/results/statistics.hpp"

#include <algorithm>

namespace tna::bench {

namespace {
constexpr double million = 1e6;

std::vector<double> ratesOf(const Rfc2544Series& series) {
    std::vector<double> rates;
    for (const auto& round : series.rounds)
        rates.push_back(round.rate / million);
    return rates;
}

std::vector<double> ratiosTo(const std::vector<Rfc2544Series>& all, const Rfc2544Series& series,
                             const std::string& base) {
    const auto against = std::ranges::find(all, base, &Rfc2544Series::contender);
    return against == all.end() || !against->notMeasured.empty() ? std::vector<double>{}
                                                                 : ratios(ratesOf(series), ratesOf(*against));
}

bool throttled(const Rfc2544Series& series) {
    return std::ranges::any_of(series.rounds, &NoLossRate::throttled);
}

std::string row(const std::vector<Rfc2544Series>& all, const Rfc2544Series& series) {
    const auto head = fmt::format("{:<12}", series.contender);
    if (series.rounds.empty() || !series.notMeasured.empty())
        return fmt::format("{} not measured: {}\n", head, series.notMeasured);
    std::size_t trials = 0;
    for (const auto& round : series.rounds)
        trials += round.trials.size();
    return fmt::format("{} {:<18} {:<18} {:<18} {:>6} {:>6} {:>6}{}\n", head,
                       spreadText(ratiosTo(all, series, "ceiling")),
                       spreadText(ratiosTo(all, series, "linux")), spreadText(ratesOf(series)), trials,
                       series.cores, nameOf(series.tcp), throttled(series) ? "  <" : "");
}

nlohmann::json roundDocument(const NoLossRate& round) {
    nlohmann::json trials = nlohmann::json::array();
    for (const auto& trial : round.trials)
        trials.push_back({{"mpps", trial.rate / million},
                          {"reached_mpps", trial.really / million},
                          {"sent", trial.sent},
                          {"lost", trial.lost}});
    return {{"mpps", round.rate / million}, {"throttled", round.throttled}, {"trials", trials}};
}
} // namespace

Result<std::vector<Rfc2544Series>> measureRfc2544(const Rfc2544Options& options, Watcher& watcher) {
    auto entrants = lineUp(options.contenders, options.tnad, options.setup, watcher,
                           [&](const auto& name) { watcher.progress("preparing " + name, 0, 1); });
    if (!entrants)
        return std::unexpected(entrants.error());
    std::vector<Rfc2544Series> all;
    for (const auto& entrant : *entrants)
        all.push_back(
            {entrant.name, {}, entrant.notMeasured, entrant.tcp, entrant.cores, remarksOf(entrant)});
    const auto total = static_cast<unsigned>(all.size()) * options.rounds;
    unsigned done = 0;
    for (unsigned round = 0; round < options.rounds; round++)
        for (const auto index : turnsOfRound(all.size(), round)) {
            if (watcher.interrupted())
                return all;
            auto& entrant = (*entrants)[index];
            watcher.progress(entrant.name, done++, total);
            if (!entrant.lane)
                continue;
            auto found = findNoLossRate(*entrant.lane, options.search);
            if (found)
                all[index].rounds.push_back(std::move(*found));
            else
                entrant.withdraw(found.error());
            all[index].notMeasured = entrant.notMeasured;
        }
    return all;
}

std::string renderRfc2544(const std::vector<Rfc2544Series>& all) {
    std::string text =
        "The highest rate without loss, paced frame by frame from one CPU: median of all rounds, "
        "first and third quartile.\n\n"
        "contender    x ceiling          x linux            Mpps               trials  cores    "
        "TCP\n";
    for (const auto& series : all)
        text += row(all, series);
    for (const auto& series : all)
        for (const auto& remark : series.remarks)
            text += fmt::format("{}: {}\n", series.contender, remark);
    if (std::ranges::any_of(all, throttled))
        text += "<: nothing was lost at all that could be offered: it works on the generator's CPU, and "
                "throttles it.\n";
    return text + coresRemark();
}

nlohmann::json rfc2544Document(const Rfc2544Options& options, const nlohmann::json& machine,
                               const std::vector<Rfc2544Series>& all) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& series : all) {
        nlohmann::json rounds = nlohmann::json::array();
        for (const auto& round : series.rounds)
            rounds.push_back(roundDocument(round));
        list.push_back({{"contender", series.contender},
                        {"mpps", summaryDocument(ratesOf(series))},
                        {"x_ceiling", summaryDocument(ratiosTo(all, series, "ceiling"))},
                        {"x_linux", summaryDocument(ratiosTo(all, series, "linux"))},
                        {"throttled", throttled(series)},
                        {"tcp", nameOf(series.tcp)},
                        {"cores", series.cores},
                        {"remarks", series.remarks},
                        {"rounds", rounds},
                        {"not_measured", textOrNull(series.notMeasured)}});
    }
    auto described = setupDocument(options.setup);
    described.update({{"stations", options.setup.flows},
                      {"loss_percent", options.search.loss},
                      {"precision_percent", options.search.precision},
                      {"seconds", options.search.trial},
                      {"rounds", options.rounds},
                      {"contenders", options.contenders}});
    return {{"version", 2},
            {"command", "rfc2544"},
            {"machine", machine},
            {"options", described},
            {"series", list}};
}

} // namespace tna::bench
