// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/study.hpp"
#include "bench/delays/delays.hpp"
#include "cli/checks.hpp"

#include <arpa/inet.h>
#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
struct DelaysArguments {
    DelaysOptions options;
    bool json = false;
    bool quick = false;
    bool paper = false;
    bool planOnly = false;
    std::string forward;
    std::string on;
};

/// Two interfaces of this machine, or one and a command that has another machine send back.
std::string problemWithPlace(const Cabling& cabling, const std::string& address) {
    in_addr parsed{};
    if (!address.empty() && (cabling.dut.empty() || ::inet_pton(AF_INET, address.c_str(), &parsed) != 1))
        return "--address is an IPv4 address, of the machine that --dut has send back";
    if (cabling.dut.empty())
        return problemWith(cabling);
    return cabling.tx.empty() || !cabling.rx.empty()
               ? "--dut has another machine send back: name only --tx here"
               : "";
}

Result<void> checkPlace(const Cabling& cabling) {
    constexpr unsigned probe = 64;
    auto all = cabling;
    if (all.rx.empty())
        all.rx = all.tx;
    return all.tx.empty() ? Result<void>{} : checkInterfaces(all, probe);
}

/// For a prober on another machine.
int serve(const DelaysArguments& arguments) {
    if (const int code = prepare(); code != 0)
        return code;
    if (const auto free = checkPlace({.tx = arguments.forward, .force = arguments.options.cabling.force});
        !free)
        return complain(free.error().sentence(), ExitCode::usage);
    takePriority();
    const auto will = leaveNothingBehind();
    if (!will)
        return complain(will.error().sentence(), will.error().code);
    // A signal ends it as the end of its input does: what was changed is put back.
    const TerminalWatcher watcher;
    const auto served = serveAsFarEnd(arguments.forward, arguments.on);
    return served ? 0 : complain(served.error().sentence(), served.error().code);
}

int show(const DelaysArguments& arguments, const DelaysResult& result, const nlohmann::json& machine,
         bool interrupted) {
    if (arguments.planOnly)
        return 0;
    return showStudy(delaysStudyDocument(arguments.options, machine, result), arguments.json, machine,
                     interrupted);
}

int runDelays(DelaysArguments& arguments) {
    auto& options = arguments.options;
    if (!arguments.forward.empty())
        return serve(arguments);
    if (arguments.quick) {
        options.intervals = {0.005, 0};
        options.seconds = 0.3;
        options.rounds = 3;
    }
    if (arguments.paper) {
        options.intervals = {1, 0.005, 0.0006, 0};
        options.seconds = 30;
        options.rounds = std::max(options.rounds, 3U);
    }
    if (const auto problem = problemWithPlace(options.cabling, options.address); !problem.empty())
        return complain(problem, ExitCode::usage);
    if (const auto free = checkPlace(options.cabling); !free)
        return complain(free.error().sentence(), ExitCode::usage);
    return runStudy(
        [&](Watcher& watcher) {
            return measureDelays(options, watcher, [&](const DelaysPlan& plan) {
                fmt::print(stderr, "{}", describe(plan, options));
                return !arguments.planOnly;
            });
        },
        [&](const DelaysResult& result, const nlohmann::json& machine, bool interrupted) {
            return show(arguments, result, machine, interrupted);
        });
}
} // namespace

void addDelays(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<DelaysArguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand("delays", "round trips by AF_XDP, with every combination of settings");
    command->add_option("--intervals", options.intervals, "seconds from probe to probe; 0: none")
        ->delimiter(',')
        ->default_str("0.005,0.0006,0")
        ->check(cli::number(0, 1));
    addSeconds(*command, "--seconds", options.seconds, "length of each run");
    addRounds(*command, options.rounds, "runs of each combination");
    command->add_option("--clusters", options.clusters, "how many; 0: as many as fit best")
        ->capture_default_str()
        ->check(cli::wholeNumber(0, 20));
    command->add_option("--journal", options.journal,
                        "a file of what was measured: a run that was ended goes on where it was");
    command->add_option("--tx", options.cabling.tx, "probe by this interface, cabled to --rx");
    command->add_option("--rx", options.cabling.rx, "and send back at this one, of the same machine");
    command->add_option(
        "--dut", options.cabling.dut,
        "or a command that has the machine at the other end of the cable send back; see below");
    command->add_option("--address", options.address, "that machine's address, for ping and UDP");
    auto* forward =
        command->add_option("--forward", arguments->forward, "be that machine, on this interface");
    command->add_option("--on", arguments->on, "settings that are on there, or echo, or udp")->needs(forward);
    forward->needs("--on");
    command->add_flag("--force", options.cabling.force, "use interfaces that are in use");
    command->add_flag("--plan", arguments->planOnly, "say what would be measured and how long it takes");
    command->add_flag("--json", arguments->json, "every run, for programs");
    auto* quick = command->add_flag("--quick", arguments->quick, "three runs of 0.3 s, at 5 ms and at none");
    command->add_flag("--paper", arguments->paper, "runs of 30 s, at 1 s, 5 ms, 0.6 ms and none; takes hours")
        ->excludes(quick);
    command->footer(
        "A prober sends 64 bytes at a time, a forwarder sends them back, both by AF_XDP sockets, each on a "
        "processor of its own.\nWhat the driver or the machine cannot be told is named as missing. "
        "Statistics need python3-sklearn, python3-scipy and\npython3-seaborn.\n"
        "On another machine: --dut \"ssh root@there tna-bench delays --forward eth1 --on\"; the settings "
        "follow.");
    command->callback([arguments, &exitCode] { exitCode = runDelays(*arguments); });
}

} // namespace tna::bench
