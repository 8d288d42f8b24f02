// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/measurement.hpp"
#include "bench/results/analysis.hpp"
#include "bench/tenants/study.hpp"
#include "bench/testbed/frame.hpp"
#include "cli/checks.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

namespace tna::bench {

namespace {
constexpr unsigned mostTenants = 512;
constexpr unsigned mostChecksums = 64;
constexpr unsigned largestOffered = 1514;

struct TenantsArguments {
    TenantsOptions options;
    bool json = false;
    bool quick = false;
    bool paper = false;
    bool planOnly = false;
};

int show(const TenantsArguments& arguments, const TenantsResult& result, const nlohmann::json& machine,
         bool interrupted) {
    auto document = tenantsDocument(arguments.options, machine, result);
    const auto analysis = analyse(document);
    document["analysis"] = analysis ? analysis->found : nlohmann::json();
    if (arguments.json)
        print(document);
    else if (analysis)
        fmt::print("{}\n{}", machineLine(machine), analysis->text);
    if (!analysis)
        return complain(analysis.error().sentence(), ExitCode::notSupported);
    return interruptedOr(0, interrupted);
}

int runTenants(TenantsArguments& arguments) {
    auto& options = arguments.options;
    if (options.subjects.empty())
        for (const auto& kind : subjectKinds)
            options.subjects.emplace_back(kind.name);
    if (arguments.quick) {
        options.sizes = {64};
        options.tenants = {0, 8, 32};
        options.seconds = 0.3;
    }
    if (arguments.paper) {
        options.seconds = 30;
        options.rounds = std::max(options.rounds, 3U);
    }
    std::error_code none;
    if (!std::filesystem::is_directory(options.disk, none))
        return complain(fmt::format("--disk: '{}' is no folder", options.disk), ExitCode::usage);
    if (const auto problem = problemWith(options.cabling); !problem.empty())
        return complain(problem, ExitCode::usage);
    if (options.cabling.cabled())
        if (const auto free = checkInterfaces(options.cabling, std::ranges::max(options.sizes)); !free)
            return complain(free.error().sentence(), ExitCode::usage);
    const auto plan = planTenants(options);
    fmt::print(stderr, "{}", describe(plan, options));
    if (arguments.planOnly)
        return 0;
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureTenants(options, watcher); },
        [&](const TenantsResult& result, const nlohmann::json& machine, bool interrupted) {
            return show(arguments, result, machine, interrupted);
        },
        options.disk);
}

std::vector<std::string> subjectNames() {
    std::vector<std::string> names;
    for (const auto& kind : subjectKinds)
        names.emplace_back(kind.name);
    return names;
}

std::string subjectHelp() {
    std::string help = "Subjects:\n";
    for (const auto& kind : subjectKinds)
        help += fmt::format("  {:<12} {}\n", kind.name, kind.words);
    return help;
}
} // namespace

void addTenants(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<TenantsArguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand("tenants", "XDP, DPDK, Linux and tna beside busy neighbours");
    command->add_option("--subjects", options.subjects, "what is measured; see below")
        ->delimiter(',')
        ->check(CLI::IsMember(subjectNames()).description(""));
    command->add_option("--burdens", options.burdens, "what tenants load: cpu, disk, network")
        ->delimiter(',')
        ->default_str("cpu,disk,network")
        ->check(CLI::IsMember({"cpu", "disk", "network"}).description(""));
    command->add_option("--tenants", options.tenants, "numbers of tenants")
        ->delimiter(',')
        ->default_str("0,8,32,128")
        ->check(cli::wholeNumber(0, mostTenants));
    command->add_option("--sizes", options.sizes, "frame sizes in bytes")
        ->delimiter(',')
        ->default_str("64,1500")
        ->check(cli::wholeNumber(smallestFrame, largestOffered));
    command->add_option("--checksums", options.checksums, "how often the checksum is computed")
        ->delimiter(',')
        ->default_str("1,10")
        ->check(cli::wholeNumber(1, mostChecksums));
    addSeconds(*command, "--seconds", options.seconds, "length of each measurement");
    addRounds(*command, options.rounds, "rounds");
    command->add_option("--disk", options.disk, "where tenants that load a disk write, 4 MiB each")
        ->capture_default_str();
    command->add_option("--vm", options.vm,
                        "tenants that load processors are virtual machines with this kernel");
    command->add_option("--journal", options.journal,
                        "a file of what was measured: a run that was ended goes on where it was");
    command->add_option("--tx", options.cabling.tx, "offer frames by this interface, cabled to --rx");
    command->add_option("--rx", options.cabling.rx, "and drop them at this one, of the same machine");
    command->add_flag("--force", options.cabling.force, "use interfaces that are in use");
    addTnad(*command, options.tnad);
    command->add_flag("--plan", arguments->planOnly, "say what would be measured and how long it takes");
    command->add_flag("--json", arguments->json, "every run, for programs");
    auto* quick = command->add_flag("--quick", arguments->quick, "64 bytes, up to 32 tenants, 0.3 s each");
    command->add_flag("--paper", arguments->paper, "measurements of 30 s; takes a day")->excludes(quick);
    command->footer(
        subjectHelp() +
        "Each has one processor for its driver and itself; another one offers all that it can. Tenants are "
        "processes of\nstress-ng and ping, each in a control group of its own, within one for all. "
        "Statistics "
        "need python3-sklearn,\npython3-scipy and python3-seaborn.");
    command->callback([arguments, &exitCode] { exitCode = runTenants(*arguments); });
}

} // namespace tna::bench
