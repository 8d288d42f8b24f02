// SPDX-License-Identifier: Apache-2.0
#include "bench/contender.hpp"
#include "bench/measurement.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

namespace tna::bench {

namespace {
struct Arguments {
    ThroughputOptions options;
    bool json = false;
    bool quick = false;
};

std::string problemWithOptions(const ThroughputOptions& options) {
    for (const auto& name : options.contenders)
        if (auto problem = problemWithContender(name, options.scenario); !problem.empty())
            return problem;
    const unsigned present = std::thread::hardware_concurrency();
    for (const unsigned cpus : options.cpus)
        if (cpus == 0 || cpus > present)
            return fmt::format("{} CPUs were asked for, this machine has {}", cpus, present);
    for (const unsigned stations : options.stations)
        if (auto problem =
                problemWith(Setup{options.scenario, stations, options.routes, 1, options.frameSize});
            !problem.empty())
            return problem;
    if (options.rounds == 0 || options.seconds <= 0)
        return "there must be at least one round, of more than 0 seconds";
    return {};
}

int run(Arguments& arguments) {
    auto& options = arguments.options;
    if (options.contenders.empty())
        options.contenders = usualContenders(options.scenario);
    if (arguments.quick) {
        options.cpus = {1};
        options.rounds = 10;
    }
    if (const auto problem = problemWithOptions(options); !problem.empty())
        return complain(problem, ExitCode::usage);
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureThroughput(options, watcher); },
        [&](const auto& all, const nlohmann::json& machine, bool interrupted) {
            if (arguments.json)
                print(resultDocument(options, machine, all));
            else
                fmt::print("{}, {} byte frames, {}\n{}", nameOf(options.scenario), options.frameSize,
                           machineLine(machine), renderTable(all));
            for (const auto& remark : remarks(all))
                fmt::print(stderr, "{}\n", remark);
            const bool complete =
                std::ranges::all_of(all, [](const Series& series) { return series.notMeasured.empty(); });
            return interruptedOr(static_cast<int>(complete ? ExitCode::ok : ExitCode::failure), interrupted);
        });
}
} // namespace

void addThroughput(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<Arguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand("throughput", "frames per second at full offer");
    command
        ->add_option("--contender", options.contenders,
                     "linux, linux+nf, tna, tna-mirror, tna@FILE, ceiling, direct")
        ->delimiter(',')
        ->default_str("all that the scenario has, of linux, linux+nf, tna, ceiling, direct");
    addScenario(*command, options.scenario);
    command->add_option("--routes", options.routes, "of a router: routes that lead to the destinations")
        ->capture_default_str();
    command
        ->add_option("--stations", options.stations,
                     "numbers of pairs of stations that talk; or destinations")
        ->delimiter(',')
        ->capture_default_str();
    command->add_option("--cpus", options.cpus, "numbers of CPUs")->delimiter(',')->capture_default_str();
    command->add_option("--size", options.frameSize, "frame size in bytes")->capture_default_str();
    command->add_option("--rounds", options.rounds, "rounds")->capture_default_str();
    command->add_option("--seconds", options.seconds, "length of each measurement")->capture_default_str();
    command->add_option("--tnad", options.tnad, "the daemon to run (default: the one beside this program)");
    command->add_flag("--json", arguments->json, "every round, for programs");
    command->add_flag("--quick", arguments->quick, "ten rounds on one CPU");
    command->footer(
        "bridge: of two ports; router, router6: two ports with IPv4 or IPv6 addresses; bridges: two bridges "
        "with "
        "IPv4 addresses.\n"
        "linux: alone, with br_netfilter's calls of the rule sets off; linux+nf: on, the "
        "kernel's default;\ntna: tnad beside it; tna-mirror: the same with fdb = \"mirror\"; tna@FILE: "
        "another daemon, to compare with;\nceiling: a program that only redirects to a fixed port; direct: "
        "the sink in the place of what is measured.\n"
        "Before each measurement a frame of each flow is sent and compared at the far end.");
    command->callback([arguments, &exitCode] { exitCode = run(*arguments); });
}

} // namespace tna::bench
