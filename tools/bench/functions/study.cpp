// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/study.hpp"

#include "bench/measure/turns.hpp"
#include "bench/results/document.hpp"
#include "bench/results/journal.hpp"
#include "bench/results/schedule.hpp"
#include "bench/testbed/tnad.hpp"
#include "bench/traffic/traffic.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <random>
#include <unistd.h>

namespace tna::bench {

namespace {
/// Namespaces, and a contestant that has to come up and go.
constexpr double secondsToStart = 0.9;

std::string keyOf(unsigned round, std::size_t number) {
    return fmt::format("{}/{}", round, number);
}

nlohmann::json optionsDocument(const FunctionsOptions& options) {
    return {{"workloads", options.workloads.empty() ? functionWorkloads() : options.workloads},
            {"classes", options.classes},
            {"contestants", options.contestants},
            {"rates", options.rates},
            {"checksums", options.checksums},
            {"lines", options.lines},
            {"rules", options.rules},
            {"shares", options.shares},
            {"cpus", options.cpus},
            {"rounds", options.rounds},
            {"seconds", options.seconds},
            {"trial", options.trial},
            {"loss_percent", options.loss}};
}

/// One that cannot run here is not started again and again.
bool isHopeless(const nlohmann::json& run) {
    return !run["not_measured"].is_null();
}

class Run {
public:
    Run(const FunctionsOptions& options, const FunctionsPlan& plan, Watcher& watcher, Journal& journal,
        std::string workload)
        : options_(options), plan_(plan), watcher_(watcher), journal_(journal),
          workload_(std::move(workload)), left_(plan.seconds()) {}

    /// False if interrupted.
    Result<bool> round(unsigned number) {
        std::vector<std::size_t> order(plan_.series.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::mt19937 random{number}; // the same order each time, so that a run can go on
        std::ranges::shuffle(order, random);
        for (const auto which : order) {
            if (watcher_.interrupted())
                return false;
            if (!plan_.series[which].notMeasured.empty())
                continue;
            const auto key = keyOf(number, which);
            const bool before = journal_.find(key) != nullptr;
            if (!before)
                if (auto added = add(number, which, key); !added || !*added)
                    return added;
            left_.done(plan_.secondsPerVisit, before);
        }
        return true;
    }

private:
    Result<bool> add(unsigned number, std::size_t which, const std::string& key) {
        const auto& series = plan_.series[which];
        const auto& kind = contestantKinds()[series.contestant];
        watcher_.progress(fmt::format("round {} of {}, {}: {}, {} left", number + 1, plan_.rounds, kind.name,
                                      nameOf(series.one.work), durationText(left_.seconds())),
                          number, plan_.rounds);
        const auto* first = number > 0 ? journal_.find(keyOf(0, which)) : nullptr;
        auto found =
            first != nullptr && isHopeless(*first) ? *first : visit(options_, series.one, kind, workload_);
        if (watcher_.interrupted())
            return false;
        if (auto added = journal_.add(key, std::move(found)); !added)
            return std::unexpected(added.error());
        return true;
    }

    const FunctionsOptions& options_;
    const FunctionsPlan& plan_;
    Watcher& watcher_;
    Journal& journal_;
    std::string workload_;
    TimeLeft left_;
};
} // namespace

std::size_t FunctionsPlan::measured() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(series, [](const auto& one) { return one.notMeasured.empty(); }));
}

double FunctionsPlan::seconds() const {
    return static_cast<double>(measured()) * rounds * secondsPerVisit;
}

FunctionsPlan planFunctions(const FunctionsOptions& options) {
    FunctionsPlan plan{.rounds = options.rounds, .secondsPerVisit = secondsOfVisit(options) + secondsToStart};
    const auto& kinds = contestantKinds();
    for (const auto& one : functionsCases(options))
        for (std::size_t i = 0; i < kinds.size(); i++)
            if (options.contestants.empty() ||
                std::ranges::find(options.contestants, kinds[i].name) != options.contestants.end())
                plan.series.push_back({one, i, kinds[i].whyNot(one)});
    return plan;
}

std::string describe(const FunctionsPlan& plan, const FunctionsOptions& options) {
    auto text =
        fmt::format("{} contestants in cases, {} rounds: {} measurements, about {}\n", plan.measured(),
                    plan.rounds, plan.measured() * plan.rounds, durationText(plan.seconds()));
    for (const auto& [setting, reason] : leftOut())
        text += fmt::format("missing: {}: {}\n", setting, reason);
    if (lastCpu() == 0)
        text += "what is measured and what offers frames share this machine's only processor\n";
    else if (lastCpu() == 1 && std::ranges::find(options.cpus, 2U) != options.cpus.end())
        text +=
            "with --cpus 2, the driver works on the processor that offers frames: there is no third one\n";
    return text;
}

Result<std::string> findWorkload(const std::string& named) {
    const auto here = ownFolder();
    const std::vector<std::filesystem::path> places =
        named.empty() ? std::vector<std::filesystem::path>{here / "../../functions/workload/tna-workload",
                                                           here / "tna-workload", "/usr/bin/tna-workload"}
                      : std::vector<std::filesystem::path>{named};
    for (const auto& place : places)
        if (::access(place.c_str(), X_OK) == 0)
            return place.lexically_normal().string();
    return std::unexpected(
        Error{"cannot run tna-workload", {}, "build or install it, or name it with --workload"});
}

Result<FunctionsResult> measureFunctions(const FunctionsOptions& options, Watcher& watcher,
                                         const AnnounceFunctions& announce) {
    const auto workload = findWorkload(options.workload);
    if (!workload)
        return std::unexpected(workload.error());
    if (lastCpu() == 0 && std::ranges::find(options.cpus, 2U) != options.cpus.end())
        return fail("this machine has one processor only: --cpus 2 needs another one for user space");
    FunctionsResult result{.plan = planFunctions(options)};
    if (!announce(result.plan))
        return result;
    auto journal =
        Journal::open(options.journal, {{"command", "functions"}, {"options", optionsDocument(options)}});
    if (!journal)
        return std::unexpected(journal.error());
    Run run{options, result.plan, watcher, *journal, *workload};
    for (unsigned round = 0; round < options.rounds && result.complete; round++) {
        const auto done = run.round(round);
        if (!done)
            return std::unexpected(done.error());
        result.complete = *done;
    }
    for (std::size_t i = 0; i < result.plan.series.size(); i++) {
        auto& own = result.runs.emplace_back(nlohmann::json::array());
        for (unsigned round = 0; round < options.rounds; round++)
            if (const auto* found = journal->find(keyOf(round, i)))
                own.push_back(*found);
    }
    return result;
}

nlohmann::json functionsDocument(const FunctionsOptions& options, const nlohmann::json& machine,
                                 const FunctionsResult& result) {
    auto missing = nlohmann::json::array(), kinds = nlohmann::json::object(), list = nlohmann::json::array();
    for (const auto& [setting, reason] : leftOut())
        missing.push_back({{"setting", setting}, {"reason", reason}});
    for (const auto& kind : contestantKinds())
        kinds[kind.name] = kind.words;
    for (std::size_t i = 0; i < result.plan.series.size(); i++) {
        const auto& series = result.plan.series[i];
        list.push_back({{"contestant", contestantKinds()[series.contestant].name},
                        {"workload", nameOf(series.one.work)},
                        {"class", nameOf(series.one.which)},
                        {"size", series.one.size},
                        {"cpus", series.one.cpus},
                        {"not_measured", textOrNull(series.notMeasured)},
                        {"runs", i < result.runs.size() ? result.runs[i] : nlohmann::json::array()}});
    }
    return {{"version", 2},
            {"command", "functions"},
            {"machine", machine},
            {"missing", missing},
            {"options", optionsDocument(options)},
            {"complete", result.complete},
            {"contestants", kinds},
            {"series", list}};
}

} // namespace tna::bench
