// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/measurement.hpp"
#include "bench/measure/kill.hpp"
#include "bench/testbed/frame.hpp"
#include "bench/testbed/topology.hpp"
#include "cli/checks.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
struct KillArguments {
    KillOptions options;
    bool json = false;
};

std::string problemWith(const KillOptions& options) {
    if (auto problem = problemWith(Setup{.flows = options.stations, .frameSize = options.frameSize});
        !problem.empty())
        return problem;
    if (options.rounds == 0 || options.seconds < 0)
        return "--rounds must be at least 1, --seconds not below 0";
    return {};
}

int runKill(KillArguments& arguments) {
    auto& options = arguments.options;
    if (const auto problem = problemWith(options); !problem.empty())
        return complain(problem, ExitCode::usage);
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureKills(options, watcher); },
        [&](const auto& rounds, const nlohmann::json& machine, bool interrupted) {
            if (arguments.json)
                print(killDocument(options, machine, rounds));
            else
                fmt::print("tnad killed with SIGKILL under load, {} byte frames, {}\n{}", options.frameSize,
                           machineLine(machine), renderKills(rounds));
            return interruptedOr(0, interrupted);
        });
}
} // namespace

void addKill(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<KillArguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand("kill", "SIGKILL of tnad under load: what is lost, and what is left");
    addStations(*command, options.stations);
    command->add_option("--size", options.frameSize, "frame size in bytes")
        ->capture_default_str()
        ->check(cli::wholeNumber(smallestFrame, largestFrame));
    addRounds(*command, options.rounds, "kills");
    addSeconds(*command, "--seconds", options.seconds, "length of each phase: before, without, again");
    addTnad(*command, options.tnad);
    command->add_flag("--json", arguments->json, "every round, for programs");
    command->footer(
        "Every frame is counted, from before the kill to after the new start; the same load is run "
        "as long without a kill.\nFails if Linux does not go on, if the new tnad does not "
        "accelerate, or if a link, map or program of the killed one\nstill exists.");
    command->callback([arguments, &exitCode] { exitCode = runKill(*arguments); });
}

} // namespace tna::bench
