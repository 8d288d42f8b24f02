// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/measurement.hpp"
#include "bench/measure/reaction.hpp"
#include "cli/checks.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
constexpr unsigned mostPorts = 1000;
constexpr unsigned mostEntries = 1'000'000;

struct ReactionArguments {
    ReactionOptions options;
    bool json = false;
};

std::string problemWith(const ReactionOptions& options) {
    if (options.ports == 0 || options.ports > mostPorts)
        return fmt::format("--ports must be from 1 to {}", mostPorts);
    if (options.starts == 0 || options.changes == 0 || options.idleSeconds <= 0)
        return "--starts and --changes must be at least 1, --idle more than 0";
    if (options.stations > mostEntries)
        return fmt::format("--stations must be at most {}", mostEntries);
    return {};
}

int runReaction(ReactionArguments& arguments) {
    auto& options = arguments.options;
    if (const auto problem = problemWith(options); !problem.empty())
        return complain(problem, ExitCode::usage);
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureReaction(options, watcher); },
        [&](const auto& reaction, const nlohmann::json& machine, bool interrupted) {
            if (interrupted)
                return complain("interrupted", ExitCode::failure);
            if (arguments.json)
                print(reactionDocument(options, machine, reaction));
            else
                fmt::print("tnad, {}\n{}", machineLine(machine), renderReaction(options, reaction));
            return 0;
        });
}
} // namespace

void addReaction(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<ReactionArguments>();
    auto& options = arguments->options;
    auto* command =
        app.add_subcommand("reaction", "tnad's own times: start-up, reaction to a change, and rest");
    command->add_option("--ports", options.ports, "ports of the bridge")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, mostPorts));
    command->add_option("--starts", options.starts, "how often it is started")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, cli::mostTimes));
    command->add_option("--changes", options.changes, "changes of a port's profile")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, cli::mostTimes));
    command->add_option("--stations", options.stations, "forwarding database entries while it rests")
        ->capture_default_str()
        ->check(cli::wholeNumber(0, mostEntries));
    addSeconds(*command, "--idle", options.idleSeconds, "seconds of rest that are measured");
    addTnad(*command, options.tnad);
    command->add_flag("--json", arguments->json, "every value, for programs");
    command->footer(
        "Start-up is from before exec to the last port accelerated, as tnad and the kernel say. A change "
        "switches a port's\nlearning off or on; its time is from before the request to when the new "
        "program was in place.");
    command->callback([arguments, &exitCode] { exitCode = runReaction(*arguments); });
}

} // namespace tna::bench
