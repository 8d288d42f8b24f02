// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/measurement.hpp"
#include "bench/functions/study.hpp"
#include "cli/checks.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
struct FunctionsArguments {
    FunctionsOptions options;
    bool quick = false;
    bool plan = false;
    bool json = false;
};

int runFunctions(FunctionsArguments& arguments) {
    auto& options = arguments.options;
    if (arguments.quick) {
        options.rounds = 3;
        options.seconds = 0.3;
    }
    if (options.rounds == 0 || options.seconds <= 0)
        return complain("--rounds must be at least 1, --seconds more than 0", ExitCode::usage);
    const auto plan =
        fmt::format("{} rounds of {} s for each contestant: {:.0f} s, and what it takes to start them\n",
                    options.rounds, options.seconds, secondsOf(options));
    fmt::print(arguments.plan ? stdout : stderr, "{}", plan);
    if (arguments.plan)
        return 0;
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureFunctions(options, watcher); },
        [&](const auto& result, const nlohmann::json& machine, bool interrupted) {
            if (arguments.json)
                print(functionsDocument(options, machine, result));
            else
                fmt::print("{}\n{}", machineLine(machine), renderFunctions(options, result));
            return interruptedOr(0, interrupted);
        });
}
} // namespace

void addFunctions(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<FunctionsArguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand(
        "functions", "frames sent back by a network function, a socket program and XDP, in turn");
    addRounds(*command, options.rounds, "of all, who is first in turn");
    addSeconds(*command, "--seconds", options.seconds, "length of each measurement");
    command
        ->add_option("--cpus", options.cpus,
                     "1: user space shares the processor of generator and kernel; 2: it has another one")
        ->check(cli::wholeNumber(1, 2))
        ->capture_default_str();
    auto* quick = command->add_flag("--quick", arguments->quick, "3 rounds of 0.3 s");
    quick->excludes("--rounds")->excludes("--seconds");
    command->add_flag("--plan", arguments->plan, "say how long it takes, and measure nothing");
    command->add_option("--workload", options.workload, "tna-workload's file (default: beside this program)");
    addTnad(*command, options.tnad);
    command->add_flag("--json", arguments->json, "every value, for programs");
    command->footer("Examples:\n"
                    "  tna-bench functions --quick\n"
                    "  tna-bench functions --cpus 2 --json >functions.json");
    command->callback([arguments, &exitCode] { exitCode = runFunctions(*arguments); });
}

} // namespace tna::bench
