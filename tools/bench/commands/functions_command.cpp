// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/study.hpp"
#include "bench/functions/study.hpp"
#include "cli/checks.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
constexpr unsigned mostTimes = 64;
constexpr unsigned mostLines = 1U << 22U;
constexpr unsigned mostRules = 4000000;

struct FunctionsArguments {
    FunctionsOptions options;
    bool quick = false;
    bool plan = false;
    bool json = false;
};

int show(const FunctionsArguments& arguments, const FunctionsResult& result, const nlohmann::json& machine,
         bool interrupted) {
    if (arguments.plan)
        return 0;
    return showStudy(functionsDocument(arguments.options, machine, result), arguments.json, machine,
                     interrupted);
}

int runFunctions(FunctionsArguments& arguments) {
    auto& options = arguments.options;
    if (arguments.quick) {
        options.rounds = 3;
        options.seconds = 0.3;
        options.rates = {"full"};
        if (options.workloads.empty())
            options.workloads = {"macswap"};
    }
    if (options.rounds == 0 || options.seconds <= 0 || options.trial <= 0)
        return complain("--rounds must be at least 1, --seconds and --trial more than 0", ExitCode::usage);
    if (planFunctions(options).measured() == 0)
        return complain("no contestant does that: `tna-bench functions --help` says what there is",
                        ExitCode::usage);
    if (arguments.plan) {
        fmt::print("{}", describe(planFunctions(options), options));
        return 0;
    }
    return runMeasurement(
        options.tnad,
        [&](Watcher& watcher) {
            return measureFunctions(options, watcher, [&](const FunctionsPlan& plan) {
                fmt::print(stderr, "{}", describe(plan, options));
                return true;
            });
        },
        [&](const FunctionsResult& result, const nlohmann::json& machine, bool interrupted) {
            return show(arguments, result, machine, interrupted);
        });
}

std::vector<std::string> contestantNames() {
    std::vector<std::string> names;
    for (const auto& kind : contestantKinds())
        names.push_back(kind.name);
    return names;
}

std::string contestantHelp() {
    std::string help = "Contestants:\n";
    for (const auto& kind : contestantKinds())
        help += fmt::format("  {:<12} {}\n", kind.name, kind.words);
    return help;
}

void addChoice(CLI::App& command, const std::string& name, std::vector<std::string>& into,
               const std::vector<std::string>& choices, const std::string& words) {
    command.add_option(name, into, words)->delimiter(',')->check(CLI::IsMember(choices).description(""));
}

void addSizes(CLI::App& command, const std::string& name, std::vector<unsigned>& into, unsigned least,
              unsigned most, const std::string& words) {
    std::string usual;
    for (const unsigned size : into)
        usual += fmt::format("{}{}", usual.empty() ? "" : ",", size);
    command.add_option(name, into, words)
        ->delimiter(',')
        ->default_str(usual)
        ->check(cli::wholeNumber(least, most));
}
} // namespace

void addFunctions(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<FunctionsArguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand("functions", "network functions in user space and in the kernel");
    addChoice(*command, "--workloads", options.workloads, functionWorkloads(),
              "what is done with frames: macswap, checksum, lookup, firewall, chain (default: all)");
    addChoice(*command, "--classes", options.classes, {"returned", "dropped", "local"},
              "what becomes of them: returned, dropped, local (default: all)");
    addChoice(*command, "--contestants", options.contestants, contestantNames(),
              "who does that; see below (default: all)");
    addChoice(*command, "--rates", options.rates, {"full", "rfc2544"},
              "how many are offered: full, as many as can be; rfc2544, as many as are not lost");
    addSizes(*command, "--checksums", options.checksums, 1, mostTimes, "how often checksum computes it");
    addSizes(*command, "--lines", options.lines, 1, mostLines, "lines of 64 bytes of lookup's table");
    addSizes(*command, "--rules", options.rules, 1, mostRules, "connections that firewall drops");
    addSizes(*command, "--shares", options.shares, 0, 100, "per cent of frames that chain drops");
    addSizes(*command, "--cpus", options.cpus, 1, 2,
             "1: kernel and user space share a processor; 2: they have one each");
    addRounds(*command, options.rounds, "of all, in an order of its own each");
    addSeconds(*command, "--seconds", options.seconds, "length of each measurement at full offer");
    addSeconds(*command, "--trial", options.trial, "length of each trial of a rate");
    command->add_option("--journal", options.journal,
                        "a file of what was measured: a run that was ended goes on where it was");
    auto* quick =
        command->add_flag("--quick", arguments->quick, "macswap, 3 rounds of 0.3 s, at full offer only");
    quick->excludes("--rounds")->excludes("--seconds")->excludes("--rates");
    command->add_flag("--plan", arguments->plan,
                      "say how long it takes and what is missing, and measure nothing");
    command->add_option("--workload", options.workload, "tna-workload's file (default: beside this program)");
    addTnad(*command, options.tnad);
    command->add_flag("--json", arguments->json, "every run, for programs");
    command->footer(contestantHelp() +
                    "Statistics need python3-sklearn, python3-scipy and python3-seaborn.\n"
                    "Examples:\n"
                    "  tna-bench functions --quick\n"
                    "  tna-bench functions --workloads lookup --contestants busy,xdp --lines 16,1048576\n"
                    "  tna-bench functions --cpus 1,2 --journal functions.journal --json >functions.json");
    command->callback([arguments, &exitCode] { exitCode = runFunctions(*arguments); });
}

} // namespace tna::bench
