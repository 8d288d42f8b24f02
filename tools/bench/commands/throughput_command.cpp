// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/measurement.hpp"
#include "bench/contenders/contender.hpp"
#include "bench/measure/throughput_report.hpp"
#include "cli/checks.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <map>
#include <memory>
#include <thread>

namespace tna::bench {

namespace {
void addTracking(CLI::App& command, Setup& setup) {
    std::map<std::string, Tracking> names;
    for (std::size_t i = 0; i < trackingNames.size(); i++)
        names.emplace(trackingNames.at(i), static_cast<Tracking>(i));
    command
        .add_option("--tracking", setup.tracking,
                    "of a firewall: what flows are to connection tracking: established, one-way, new, or off")
        ->transform(CLI::CheckedTransformer(names, CLI::ignore_case).description(""))
        ->default_str("established");
}

struct ThroughputArguments {
    ThroughputOptions options;
    bool json = false;
    bool quick = false;
    bool paper = false;
};

unsigned largestOf(unsigned size) {
    return size == imix ? imixSizes.back() : size;
}

std::string problemWithOptions(const ThroughputOptions& options) {
    if (auto problem = problemWithContenders(options.contenders, options.setup); !problem.empty())
        return problem;
    const unsigned present = std::thread::hardware_concurrency();
    for (const unsigned cpus : options.cpus)
        if (cpus == 0 || cpus > present)
            return fmt::format("{} CPUs were asked for, this machine has {}", cpus, present);
    for (const auto& setup : loadsOf(options))
        if (auto problem = problemWith(setup); !problem.empty())
            return problem;
    if (options.rounds == 0 || options.seconds <= 0)
        return "there must be at least one round, of more than 0 seconds";
    return {};
}

int runThroughput(ThroughputArguments& arguments) {
    auto& options = arguments.options;
    const auto scenario = options.setup.scenario;
    if (options.sizes.empty())
        options.sizes = {usualSizeOf(options.setup)};
    options.contenders = chooseContenders(options.contenders, usualContenders(scenario), options.setup);
    if (arguments.quick) {
        options.cpus = {1};
        options.rounds = 10;
    }
    if (arguments.paper) {
        constexpr unsigned warm = 15'000;
        options.rounds = 10;
        options.seconds = 10;
        options.setup.reverse = warm;
    }
    if (const auto problem = problemWithOptions(options); !problem.empty())
        return complain(problem, ExitCode::usage);
    auto largest = options.setup;
    largest.frameSize = *std::ranges::max_element(options.sizes, {}, largestOf);
    if (const int code = prepareInterfaces(largest); code != 0)
        return code;
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureThroughput(options, watcher); },
        [&](const auto& all, const nlohmann::json& machine, bool interrupted) {
            if (arguments.json)
                print(resultDocument(options, machine, all));
            else
                fmt::print("{}, {}\n{}", nameOf(scenario), machineLine(machine), renderTable(all));
            for (const auto& remark : remarks(all))
                fmt::print(stderr, "{}\n", remark);
            const bool complete =
                std::ranges::all_of(all, [](const Series& series) { return series.notMeasured.empty(); });
            return interruptedOr(static_cast<int>(complete ? ExitCode::ok : ExitCode::failure), interrupted);
        });
}
} // namespace

void addThroughput(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<ThroughputArguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand("throughput", "frames per second at full offer");
    addContenders(*command, options.contenders);
    addSetup(*command, options.setup);
    const auto addList = [&](const char* name, std::vector<unsigned>& values, const char* help) {
        command->add_option(name, values, help)
            ->delimiter(',')
            ->capture_default_str()
            ->check(cli::wholeNumber(0, cli::mostTimes));
    };
    addList("--routes", options.routes, "of a router: numbers of routes that lead to the destinations");
    addList("--rules", options.rules, "numbers of netfilter rules that frames meet");
    addList("--routing-rules", options.routingRules,
            "of a router: numbers of routing rules that packets meet");
    addTracking(*command, options.setup);
    addList("--rule-changes", options.ruleChanges,
            "of a firewall: numbers of changes of its rules per second");
    addList("--entries", options.entries, "of a bridge: numbers of stations that do not talk");
    addList("--stations", options.stations, "numbers of pairs of stations that talk; or destinations");
    addList("--cpus", options.cpus, "numbers of CPUs");
    addSizes(*command, options.sizes);
    addRounds(*command, options.rounds, "rounds");
    addSeconds(*command, "--seconds", options.seconds, "length of each measurement");
    addTnad(*command, options.tnad);
    command->add_flag("--json", arguments->json, "every round, for programs");
    auto* quick = command->add_flag("--quick", arguments->quick, "ten rounds on one CPU");
    auto* paper =
        command->add_flag("--paper", arguments->paper,
                          "ten rounds of ten seconds, with 15,000 frames per second that come back");
    paper->excludes(quick);
    command->footer(
        "bridge: of two ports; router, router6: two ports with IPv4 or IPv6 addresses; bridges: two bridges "
        "with IPv4 addresses;\nfirewall, firewall6: a router that drops what it does not accept: --rules "
        "that "
        "concern nobody, then established connections;\nnat, nat6: the same, and what leaves comes from the "
        "router's own address;\nforward, forward6: the firewall, "
        "a port of which is forwarded to a host behind it.\nfast%: the part of all frames that did not go to "
        "Linux, where there is another way.\n" +
        contenderHelp() +
        "Before anything is timed a frame of each flow and size is sent, and compared at the far end; then a "
        "TCP\nconnection is made.");
    command->callback([arguments, command, &exitCode] {
        if (command->count("--size") == 0)
            arguments->options.sizes.clear();
        exitCode = runThroughput(*arguments);
    });
}

} // namespace tna::bench
