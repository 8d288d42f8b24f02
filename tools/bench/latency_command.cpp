// SPDX-License-Identifier: Apache-2.0
#include "bench/contender.hpp"
#include "bench/frame.hpp"
#include "bench/latency.hpp"
#include "bench/latency_report.hpp"
#include "bench/measurement.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
struct Arguments {
    LatencyOptions options;
    bool json = false;
};

std::string problemWithOptions(const LatencyOptions& options) {
    for (const auto& name : options.contenders)
        if (auto problem = problemWithContender(name, options.scenario); !problem.empty())
            return problem;
    if (options.loads.empty() ||
        std::ranges::any_of(options.loads, [](unsigned load) { return load == 0 || load > 100; }))
        return "--loads are per cent, from 1 to 100";
    const Setup setup{options.scenario, options.stations, 1, 1, options.frameSize};
    if (auto problem = problemWith(setup); !problem.empty())
        return problem;
    if (options.frameSize < Frames{options.scenario, options.frameSize}.smallestTimed())
        return fmt::format("the time does not fit into {} bytes: choose a larger --size", options.frameSize);
    if (options.rounds == 0 || options.seconds <= 0)
        return "there must be at least one round, of more than 0 seconds";
    return {};
}

int run(Arguments& arguments) {
    auto& options = arguments.options;
    if (const auto problem = problemWithOptions(options); !problem.empty())
        return complain(problem, ExitCode::usage);
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureLatency(options, watcher); },
        [&](const auto& result, const nlohmann::json& machine, bool interrupted) {
            if (arguments.json)
                print(latencyDocument(options, machine, result));
            else
                fmt::print("{}, {} byte frames, {}\n{}", nameOf(options.scenario), options.frameSize,
                           machineLine(machine), renderLatency(result));
            return interruptedOr(0, interrupted);
        });
}
} // namespace

void addLatency(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<Arguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand("latency", "how long frames take, at fixed loads");
    command
        ->add_option("--contender", options.contenders,
                     "linux, linux+nf, tna, tna-mirror, tna@FILE, ceiling, direct")
        ->delimiter(',')
        ->capture_default_str();
    command->add_option("--loads", options.loads, "per cent of what the slowest contender can carry")
        ->delimiter(',')
        ->capture_default_str();
    addScenario(*command, options.scenario);
    command->add_option("--stations", options.stations, "pairs of stations that talk; or destinations")
        ->capture_default_str();
    command->add_option("--size", options.frameSize, "frame size in bytes")->capture_default_str();
    command->add_option("--rounds", options.rounds, "rounds")->capture_default_str();
    command->add_option("--seconds", options.seconds, "length of each turn")->capture_default_str();
    command->add_option("--tnad", options.tnad, "the daemon to run (default: the one beside this program)");
    command->add_flag("--json", arguments->json, "every value, for programs");
    command->footer(
        "Every frame is timed, from when it was due to when it is at the far end: a generator that is held "
        "up does not\nhide what it missed.\nAll contenders carry the same rates: shares of what the slowest "
        "of them can carry on one CPU.");
    command->callback([arguments, &exitCode] { exitCode = run(*arguments); });
}

} // namespace tna::bench
