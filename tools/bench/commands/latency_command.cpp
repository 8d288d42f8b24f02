// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/measurement.hpp"
#include "bench/contenders/contender.hpp"
#include "bench/measure/latency.hpp"
#include "bench/measure/latency_report.hpp"
#include "bench/testbed/frame.hpp"
#include "cli/checks.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
struct LatencyArguments {
    LatencyOptions options;
    bool json = false;
};

std::string problemWithOptions(const LatencyOptions& options) {
    if (auto problem = problemWithContenders(options.contenders, options.setup); !problem.empty())
        return problem;
    if (options.loads.empty() ||
        std::ranges::any_of(options.loads, [](unsigned load) { return load == 0 || load > 100; }))
        return "--loads are per cent, from 1 to 100";
    if (auto problem = problemWith(options.search); !problem.empty())
        return problem;
    if (auto problem = problemWith(options.setup); !problem.empty())
        return problem;
    if (const auto smallest = sizesOf(options.setup).front();
        smallest < framesOf(options.setup).front().smallestTimed())
        return fmt::format("the time does not fit into {} bytes: choose a larger --size", smallest);
    if (options.roundTrip && options.setup.reverse != 0)
        return "--round-trip has frames coming back: leave out --reverse";
    if (options.rounds == 0 || options.seconds <= 0)
        return "there must be at least one round, of more than 0 seconds";
    return {};
}

int runLatency(LatencyArguments& arguments) {
    auto& options = arguments.options;
    options.contenders = chooseContenders(options.contenders, {"linux", "tna", "ceiling"}, options.setup);
    if (const auto problem = problemWithOptions(options); !problem.empty())
        return complain(problem, ExitCode::usage);
    if (const int code = prepareInterfaces(options.setup); code != 0)
        return code;
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureLatency(options, watcher); },
        [&](const auto& result, const nlohmann::json& machine, bool interrupted) {
            if (arguments.json)
                print(latencyDocument(options, machine, result));
            else
                fmt::print("{}, {}, {}\n{}", nameOf(options.setup.scenario), framesText(options.setup),
                           machineLine(machine), renderLatency(options, result));
            const bool complete = std::ranges::all_of(
                result.series, [](const LatencySeries& series) { return series.notMeasured.empty(); });
            return interruptedOr(static_cast<int>(complete ? ExitCode::ok : ExitCode::failure), interrupted);
        });
}
} // namespace

void addLatency(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<LatencyArguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand("latency", "how long frames take, at fixed loads");
    addContenders(*command, options.contenders);
    command->add_option("--loads", options.loads, "per cent of what the slowest contender can carry")
        ->delimiter(',')
        ->capture_default_str()
        ->check(cli::wholeNumber(1, 100));
    addSetup(*command, options.setup);
    addAmounts(*command, options.setup);
    addStations(*command, options.setup.flows);
    addSize(*command, options.setup.frameSize);
    addRounds(*command, options.rounds, "rounds");
    addSeconds(*command, "--seconds", options.seconds, "length of each turn");
    command->add_option("--loss", options.search.loss, "per cent that may be lost in what is called carried")
        ->capture_default_str()
        ->check(cli::number(0, 100));
    command->add_flag("--round-trip", options.roundTrip, "there and back: the far end sends each frame back");
    addTnad(*command, options.tnad);
    command->add_flag("--json", arguments->json, "every value, for programs");
    command->footer(
        "Every frame is timed, from when it was due to when it is at the far end: a generator that is held "
        "up does not\nhide what it missed.\nAll contenders carry the same rates: shares of what the slowest "
        "of them can carry on one CPU.\n" +
        contenderHelp());
    command->callback([arguments, &exitCode] { exitCode = runLatency(*arguments); });
}

} // namespace tna::bench
