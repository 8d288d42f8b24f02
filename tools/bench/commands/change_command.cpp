// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/measurement.hpp"
#include "bench/contenders/contender.hpp"
#include "bench/measure/change.hpp"
#include "bench/testbed/frame.hpp"
#include "cli/checks.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
struct ChangeArguments {
    ChangeOptions options;
    bool json = false;
};

std::string problemWithOptions(const ChangeOptions& options) {
    if (auto problem = problemWithContenders(options.contenders, options.setup); !problem.empty())
        return problem;
    for (const auto& name : options.contenders)
        if (name != "linux" && name != "linux+nf" && !name.starts_with("tna"))
            return fmt::format(
                "'{}' does not do as Linux is told: choose among linux, linux+nf, tna, tna-mirror, tna@FILE",
                name);
    if (options.changes == 0 || options.rate < 1)
        return "--changes and --rate must be at least 1";
    return {};
}

int runChange(ChangeArguments& arguments) {
    auto& options = arguments.options;
    options.contenders = chooseContenders(options.contenders, {"linux", "tna", "tna-mirror"}, options.setup);
    if (const auto problem = problemWithOptions(options); !problem.empty())
        return complain(problem, ExitCode::usage);
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureChanges(options, watcher); },
        [&](const auto& all, const nlohmann::json& machine, bool interrupted) {
            if (arguments.json)
                print(changeDocument(options, machine, all));
            else
                fmt::print("{}\n{}", machineLine(machine), renderChanges(options, all));
            const bool complete = std::ranges::all_of(
                all, [](const ChangeSeries& series) { return series.notMeasured.empty(); });
            return interruptedOr(static_cast<int>(complete ? ExitCode::ok : ExitCode::failure), interrupted);
        });
}
} // namespace

void addChange(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<ChangeArguments>();
    auto& options = arguments->options;
    auto* command =
        app.add_subcommand("change", "how soon a change of Linux's configuration holds, under traffic");
    command->add_option("--contender", options.contenders, "linux, linux+nf, tna, tna-mirror, tna@FILE")
        ->delimiter(',');
    command->add_option("--changes", options.changes, "of each kind, and as many back")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, cli::mostTimes));
    command->add_option("--rate", options.rate, "frames per second meanwhile")
        ->capture_default_str()
        ->check(cli::number(1, static_cast<double>(cli::mostTimes)));
    addTnad(*command, options.tnad);
    command->add_flag("--json", arguments->json, "every value, for programs");
    command->footer(
        "Each frame carries when it was sent: what was sent after the system call had returned and is still "
        "treated the old\nway makes the time.");
    command->callback([arguments, &exitCode] { exitCode = runChange(*arguments); });
}

} // namespace tna::bench
