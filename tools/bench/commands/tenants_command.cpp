// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/study.hpp"
#include "bench/tenants/study.hpp"
#include "bench/testbed/devices.hpp"
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
    std::string drop;
};

/// Two interfaces of this machine, or one and a command that has another machine drop; that may send back by
/// another cable what it forwards.
std::string problemWithPlace(const TenantsOptions& options) {
    const auto& cabling = options.cabling;
    const auto& tenancy = options.tenancy;
    if (cabling.dut.empty())
        return options.forwardAs.empty() ? problemWith(cabling)
                                         : "--forward-as is for a machine that --dut names";
    if (cabling.tx.empty() || cabling.dut == "none")
        return "--dut has another machine drop: name --tx, which is cabled to it";
    if (options.forwardAs.empty() != cabling.rx.empty())
        return "--forward-as and --rx need each other: what that machine forwards comes to --rx";
    if (!tenancy.vm.empty() || !tenancy.pmd.empty() || tenancy.disk != Tenancy{}.disk)
        return "--vm, --pmd and --disk are about the machine that has tenants: add them to the command of "
               "--dut";
    return {};
}

/// One is enough where another machine drops, or where Linux has no driver for the other.
Result<void> checkPlace(const Cabling& cabling, unsigned largest) {
    auto all = cabling;
    if (all.rx.empty() || macIn(all.rx))
        all.rx = all.tx;
    return all.cabled() ? checkInterfaces(all, largest) : Result<void>{};
}

/// For a sender on another machine.
int serve(const TenantsArguments& arguments) {
    const auto& options = arguments.options;
    if (const int code = prepare(); code != 0)
        return code;
    const Cabling own{.tx = macIn(arguments.drop) ? "" : arguments.drop, .force = options.cabling.force};
    if (const auto free = checkPlace(own, smallestFrame); !free)
        return complain(free.error().sentence(), ExitCode::usage);
    takePriority();
    const auto will = leaveNothingBehind(options.tenancy.disk);
    if (!will)
        return complain(will.error().sentence(), will.error().code);
    // A signal ends it as the end of its input does.
    const TerminalWatcher watcher;
    const auto served = serveUnderTest(arguments.drop, options.tenancy);
    return served ? 0 : complain(served.error().sentence(), served.error().code);
}

int show(const TenantsArguments& arguments, const TenantsResult& result, const nlohmann::json& machine,
         bool interrupted) {
    if (arguments.planOnly)
        return 0;
    return showStudy(tenantsDocument(arguments.options, machine, result), arguments.json, machine,
                     interrupted, result.machine);
}

int runTenants(TenantsArguments& arguments) {
    auto& options = arguments.options;
    if (!arguments.drop.empty())
        return serve(arguments);
    if (options.subjects.empty())
        for (const auto& kind : subjectKinds)
            if (kind.name != "dpdk-pmd" || !options.tenancy.pmd.empty())
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
    if (!std::filesystem::is_directory(options.tenancy.disk, none))
        return complain(fmt::format("--disk: '{}' is no folder", options.tenancy.disk), ExitCode::usage);
    if (const auto problem = problemWithPlace(options); !problem.empty())
        return complain(problem, ExitCode::usage);
    if (const auto free = checkPlace(options.cabling, std::ranges::max(options.sizes)); !free)
        return complain(free.error().sentence(), ExitCode::usage);
    return runMeasurement(
        options.tnad,
        [&](Watcher& watcher) {
            return measureTenants(options, watcher,
                                  [&](const TenantsPlan& plan, const MissingTenants& missing) {
                                      fmt::print(stderr, "{}", describe(plan, options, missing));
                                      return !arguments.planOnly;
                                  });
        },
        [&](const TenantsResult& result, const nlohmann::json& machine, bool interrupted) {
            return show(arguments, result, machine, interrupted);
        },
        options.tenancy.disk);
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
    command->add_option("--disk", options.tenancy.disk, "where tenants that load a disk write, 4 MiB each")
        ->capture_default_str();
    command->add_option("--vm", options.tenancy.vm,
                        "tenants that load processors are virtual machines with this kernel");
    command->add_option("--journal", options.journal,
                        "a file of what was measured: a run that was ended goes on where it was");
    command->add_option("--tx", options.cabling.tx, "offer frames by this interface, cabled to --rx");
    command->add_option("--rx", options.cabling.rx,
                        "and drop them at this one, of the same machine; or a hardware address, of dpdk-pmd");
    command->add_option(
        "--dut", options.cabling.dut,
        "or a command that has the machine at the other end of the cable drop them; see below");
    command->add_option("--forward-as", options.forwardAs,
                        "a command that has that machine forward to --rx as a subject, whose name follows");
    command->add_option("--drop", arguments->drop, "be that machine, on this interface");
    command->add_option(
        "--pmd", options.tenancy.pmd,
        "words for DPDK that name the device of dpdk-pmd, and its memory: \"-a 0000:01:00.1\"");
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
        "need python3-sklearn,\npython3-scipy and python3-seaborn.\n"
        "On another machine: --dut \"ssh root@there tna-bench tenants --drop eth1\"; that one has the "
        "tenants, too.");
    command->callback([arguments, &exitCode] { exitCode = runTenants(*arguments); });
}

} // namespace tna::bench
