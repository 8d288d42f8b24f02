// SPDX-License-Identifier: Apache-2.0
#include "bench/delays/delays.hpp"

#include "bench/delays/yardsticks.hpp"
#include "bench/results/document.hpp"
#include "bench/results/journal.hpp"
#include "bench/results/schedule.hpp"
#include "bench/traffic/traffic.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

namespace tna::bench {

namespace {
/// Opening sockets, attaching programs, and waiting for the kernel to give queues back.
constexpr double betweenRuns = 0.15;

nlohmann::json settingsDocument(Settings settings) {
    nlohmann::json document;
    for (const auto& [knob, name, words] : knobs)
        document[std::string{name}] = settings.has(knob);
    return document;
}

nlohmann::json missingDocument(const std::vector<MissingKnob>& missing) {
    auto list = nlohmann::json::array();
    for (const auto& [knob, reason] : missing)
        list.push_back({{"setting", knobs.at(static_cast<std::size_t>(knob)).name}, {"reason", reason}});
    return list;
}

nlohmann::json optionsDocument(const DelaysOptions& options) {
    return {{"intervals", options.intervals},
            {"seconds", options.seconds},
            {"rounds", options.rounds},
            {"frame_size", 64},
            {"clusters", options.clusters},
            {"tx", textOrNull(options.cabling.tx)},
            {"rx", textOrNull(options.cabling.rx)},
            {"dut", textOrNull(options.cabling.dut)},
            {"address", textOrNull(options.address)}};
}

/// The usual settings and those after them in the list of series are not combinations.
enum class Kind { combination, again, yardstick };

Kind kindOf(const DelaysPlan& plan, std::size_t series) {
    return series < plan.settings.size()    ? Kind::combination
           : series == plan.settings.size() ? Kind::again
                                            : Kind::yardstick;
}

std::string_view yardstickOf(const DelaysPlan& plan, std::size_t series) {
    return yardsticks.at(series - plan.settings.size() - 1).name;
}

std::size_t seriesOf(const DelaysPlan& plan) {
    return plan.settings.size() + 1 + yardsticks.size();
}

/// Where the prober is; on a processor of its own where there are two.
template <typename Action>
auto inProberThread(Action action) {
    decltype(action()) result;
    std::thread([&] {
        pinTo(lastCpu());
        result = action();
    }).join();
    return result;
}

/// One run; what cannot be measured is part of what was found.
nlohmann::json measureRun(Place& place, const DelaysPlan& plan, const DelaysPlan::Run& run, const Pace& pace,
                          const std::function<bool()>& stop) {
    const auto kind = kindOf(plan, run.series);
    if (kind == Kind::yardstick)
        if (auto why = whyNotMeasured(yardstickOf(plan, run.series), place); !why.empty())
            return {{"not_measured", why}};
    auto delays = inProberThread([&]() -> Result<Delays> {
        if (kind == Kind::yardstick)
            return measureYardstick(yardstickOf(plan, run.series), place, pace, stop);
        return measureSettings(place, kind == Kind::again ? usualSettings() : plan.settings[run.series], pace,
                               stop);
    });
    if (!delays)
        return {{"not_measured", delays.error().sentence()}};
    auto document = delaysDocument(std::move(*delays));
    document["not_measured"] = nullptr;
    return document;
}
} // namespace

DelaysPlan planDelays(const DelaysOptions& options, std::vector<MissingKnob> missing) {
    DelaysPlan plan;
    plan.settings = combinations(missing);
    plan.missing = std::move(missing);
    plan.secondsPerRun = options.seconds + betweenRuns;
    for (unsigned round = 0; round < options.rounds; round++) {
        const auto first = static_cast<std::ptrdiff_t>(plan.runs.size());
        for (std::size_t interval = 0; interval < options.intervals.size(); interval++)
            for (std::size_t series = 0; series < seriesOf(plan); series++)
                plan.runs.push_back({fmt::format("{}/{}/{}", round, interval, series), interval, series});
        std::mt19937 random{round}; // the same order each time, so that a run can go on
        std::shuffle(plan.runs.begin() + first, plan.runs.end(), random);
    }
    return plan;
}

std::string describe(const DelaysPlan& plan, const DelaysOptions& options) {
    auto text =
        fmt::format("{} configurations and {} yardsticks at {} intervals, {} rounds: {} runs of {} s, "
                    "about {}\n",
                    plan.settings.size(), yardsticks.size(), options.intervals.size(), options.rounds,
                    plan.runs.size(), options.seconds, durationText(plan.seconds()));
    for (const auto& [knob, reason] : plan.missing)
        text += fmt::format("missing: {}: {}\n", knobs.at(static_cast<std::size_t>(knob)).words, reason);
    if (std::thread::hardware_concurrency() < 2)
        text += "prober and forwarder share this machine's only processor\n";
    return text;
}

Result<DelaysResult> measureDelays(const DelaysOptions& options, Watcher& watcher,
                                   const std::function<bool(const DelaysPlan&)>& announce) {
    auto place = Place::make(options.cabling, options.address);
    if (!place)
        return std::unexpected(place.error());
    DelaysResult result;
    auto missing = (*place)->missing();
    if (std::ranges::count(missing, Knob::busyPoll, &MissingKnob::knob) == 0)
        if (auto why = whyNoBusyPolling(**place); !why.empty())
            missing.push_back({Knob::busyPoll, why});
    result.plan = planDelays(options, std::move(missing));
    const auto& plan = result.plan;
    auto journal = Journal::open(options.journal, {{"command", "delays"},
                                                   {"options", optionsDocument(options)},
                                                   {"missing", missingDocument(plan.missing)}});
    if (!journal)
        return std::unexpected(journal.error());
    if (!announce(plan))
        return result;
    result.runs.assign(seriesOf(plan),
                       std::vector<nlohmann::json>(options.intervals.size(), nlohmann::json::array()));
    TimeLeft left{plan.seconds()};
    unsigned done = 0;
    for (const auto& run : plan.runs) {
        watcher.progress(
            fmt::format("{} of {} runs, {} left", done, plan.runs.size(), durationText(left.seconds())), done,
            static_cast<unsigned>(plan.runs.size()));
        const bool before = journal->find(run.key) != nullptr;
        if (!before) {
            auto found = measureRun(**place, plan, run, {options.intervals[run.interval], options.seconds},
                                    [&] { return watcher.interrupted(); });
            result.complete = !watcher.interrupted();
            if (!result.complete)
                break;
            if (auto added = journal->add(run.key, std::move(found)); !added)
                return std::unexpected(added.error());
        }
        left.done(plan.secondsPerRun, before);
        done++;
        result.runs[run.series][run.interval].push_back(*journal->find(run.key));
    }
    return result;
}

nlohmann::json delaysStudyDocument(const DelaysOptions& options, const nlohmann::json& machine,
                                   const DelaysResult& result) {
    const auto& plan = result.plan;
    nlohmann::json document{{"version", 1},
                            {"command", "delays"},
                            {"machine", machine},
                            {"options", optionsDocument(options)},
                            {"missing", missingDocument(plan.missing)},
                            {"complete", result.complete},
                            {"series", nlohmann::json::array()},
                            {"yardsticks", nlohmann::json::array()}};
    for (std::size_t series = 0; series < result.runs.size(); series++)
        for (std::size_t interval = 0; interval < options.intervals.size(); interval++) {
            nlohmann::json entry{{"interval", options.intervals[interval]},
                                 {"runs", result.runs[series][interval]}};
            const auto kind = kindOf(plan, series);
            if (kind == Kind::yardstick) {
                entry["name"] = yardstickOf(plan, series);
                document["yardsticks"].push_back(std::move(entry));
                continue;
            }
            entry["settings"] =
                settingsDocument(kind == Kind::again ? usualSettings() : plan.settings[series]);
            entry["again"] = kind == Kind::again;
            document["series"].push_back(std::move(entry));
        }
    return document;
}

} // namespace tna::bench
