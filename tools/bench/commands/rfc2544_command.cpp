// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/measurement.hpp"
#include "bench/contenders/contender.hpp"
#include "bench/measure/rfc2544.hpp"
#include "cli/checks.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
struct Rfc2544Arguments {
    Rfc2544Options options;
    bool json = false;
};

std::string problemWithOptions(const Rfc2544Options& options) {
    if (auto problem = problemWithContenders(options.contenders, options.setup); !problem.empty())
        return problem;
    if (auto problem = problemWith(options.setup); !problem.empty())
        return problem;
    if (auto problem = problemWith(options.search); !problem.empty())
        return problem;
    if (options.rounds == 0 || options.search.trial <= 0)
        return "there must be at least one round, of trials of more than 0 seconds";
    return {};
}

int runRfc2544(Rfc2544Arguments& arguments) {
    auto& options = arguments.options;
    options.contenders = chooseContenders(options.contenders, {"linux", "tna", "ceiling"}, options.setup);
    if (const auto problem = problemWithOptions(options); !problem.empty())
        return complain(problem, ExitCode::usage);
    if (const int code = prepareInterfaces(options.setup); code != 0)
        return code;
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureRfc2544(options, watcher); },
        [&](const auto& all, const nlohmann::json& machine, bool interrupted) {
            if (arguments.json)
                print(rfc2544Document(options, machine, all));
            else
                fmt::print("{}, {}, loss of up to {} %, {}\n{}", nameOf(options.setup.scenario),
                           framesText(options.setup), options.search.loss, machineLine(machine),
                           renderRfc2544(all));
            const bool complete = std::ranges::all_of(
                all, [](const Rfc2544Series& series) { return series.notMeasured.empty(); });
            return interruptedOr(static_cast<int>(complete ? ExitCode::ok : ExitCode::failure), interrupted);
        });
}
} // namespace

void addRfc2544(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<Rfc2544Arguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand("rfc2544", "the highest rate without loss, by bisection");
    addContenders(*command, options.contenders);
    addSetup(*command, options.setup);
    addAmounts(*command, options.setup);
    addStations(*command, options.setup.flows);
    addSize(*command, options.setup.frameSize);
    command->add_option("--loss", options.search.loss, "per cent of frames that may be lost")
        ->capture_default_str()
        ->check(cli::number(0, 100));
    command->add_option("--precision", options.search.precision, "per cent within which the rate is found")
        ->capture_default_str()
        ->check(cli::number(0, 100));
    addRounds(*command, options.rounds, "searches for each contender");
    addSeconds(*command, "--seconds", options.search.trial, "length of each trial");
    addTnad(*command, options.tnad);
    command->add_flag("--json", arguments->json, "every trial, for programs");
    command->footer("A rate is too high when more is lost in two trials in a row.\n" + contenderHelp());
    command->callback([arguments, &exitCode] { exitCode = runRfc2544(*arguments); });
}

} // namespace tna::bench
