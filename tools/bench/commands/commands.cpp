// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/commands.hpp"

#include "base/file.hpp"
#include "bench/tenants/control_group.hpp"
#include "bench/testbed/frame.hpp"
#include "bench/testbed/kernel_objects.hpp"
#include "bench/testbed/own_namespace.hpp"
#include "bench/testbed/temporary_folder.hpp"
#include "bench/testbed/tnad.hpp"
#include "cli/checks.hpp"
#include "cli/needs.hpp"

#include <bpf/libbpf.h>
#include <cerrno>
#include <chrono>
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace tna::bench {

namespace {
constexpr int highestPriority = -20;
/// What there can be of each thing is less, and told by who makes them.
constexpr unsigned mostOfAnything = cli::mostTimes;
volatile std::sig_atomic_t worker = 0;

/// Ends with the worker, as the worker does; signals are handed on.
[[noreturn]] void standFor(pid_t pid) {
    worker = pid;
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        std::signal(number, [](int caught) { ::kill(static_cast<pid_t>(worker), caught); });
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : static_cast<int>(ExitCode::failure));
}
} // namespace

int complain(const std::string& sentence, ExitCode code) {
    fmt::print(stderr, "tna-bench: {}\n", sentence);
    return static_cast<int>(code);
}

int prepare() {
    if (const auto can = cli::canMakeWorlds("tna-bench"); !can)
        return complain(can.error().sentence(), can.error().code);
    // Failures are told in the program's own words.
    libbpf_set_print(nullptr);
    return 0;
}

int prepare(std::string& tnad) {
    if (const int code = prepare(); code != 0)
        return code;
    auto found = findTnad(tnad);
    if (!found)
        return complain(found.error().sentence(), ExitCode::notSupported);
    tnad = *found;
    return 0;
}

void takePriority() {
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child > 0)
        standFor(child);
    if (child == 0) {
        // Clean up when nobody waits any more.
        ::prctl(PR_SET_PDEATHSIG, SIGTERM);
        if (::getppid() != parent)
            std::_Exit(static_cast<int>(ExitCode::failure));
        // The kernel shares the processor out among sessions first, among processes second.
        ::setsid();
        [[maybe_unused]] const auto set = writeFile("/proc/self/autogroup", std::to_string(highestPriority));
    }
    ::setpriority(PRIO_PROCESS, 0, highestPriority);
}

Leftovers removeAllLeftovers(const std::string& folder) {
    removeEmptyPinFolder();
    Leftovers removed;
    // Processes first: they write into the others.
    removed.groups = ControlGroup::removeLeftovers();
    removed.namespaces = removeLeftovers();
    removed.folders = TemporaryFolder::removeLeftovers();
    if (folder != usualFolder)
        removed.folders += TemporaryFolder::removeLeftovers(folder);
    return removed;
}

Result<LastWill> leaveNothingBehind(const std::string& folder) {
    return LastWill::leave([owner = ::getpid(), folder]() -> Result<LastWill::Execute> {
        return [owner, folder] {
            // Its descriptors are closed a little before it is dead.
            constexpr auto patience = std::chrono::seconds(10);
            const auto deadline = std::chrono::steady_clock::now() + patience;
            while (!isDead(owner) && std::chrono::steady_clock::now() < deadline)
                std::this_thread::sleep_for(std::chrono::milliseconds(5));
            removeAllLeftovers(folder);
        };
    });
}

void addContenders(CLI::App& command, std::vector<std::string>& contenders) {
    command.add_option("--contender", contenders, "who is measured, or all; see below")->delimiter(',');
}

void addStations(CLI::App& command, unsigned& stations) {
    command.add_option("--stations", stations, "pairs of stations that talk; or destinations")
        ->capture_default_str()
        ->check(cli::wholeNumber(1, mostOfAnything));
}

void addTnad(CLI::App& command, std::string& tnad) {
    command.add_option("--tnad", tnad, "the daemon to run (default: the one beside this program)");
}

namespace {
/// "imix" stands for its number.
template <typename Sizes>
CLI::Option* addSizeOption(CLI::App& command, const std::string& names, Sizes& sizes,
                           const std::string& help) {
    const auto number = cli::wholeNumber(smallestFrame, largestFrame);
    const auto size = [number](std::string& word) {
        auto problem = number(word);
        if (problem.empty() || CLI::detail::to_lower(word) != "imix")
            return problem.empty() ? problem : problem + ", nor imix";
        word = std::to_string(imix);
        return std::string{};
    };
    return command.add_option(names, sizes, help)->transform(CLI::Validator(size, ""))->default_str("64");
}
} // namespace

void addSize(CLI::App& command, unsigned& size) {
    addSizeOption(command, "--size", size, "frame size in bytes, or imix");
}

void addSizes(CLI::App& command, std::vector<unsigned>& sizes) {
    addSizeOption(command, "--size,--sizes", sizes, "frame sizes in bytes, or imix")->delimiter(',');
}

void addSetup(CLI::App& command, Setup& setup) {
    std::map<std::string, Scenario> names;
    for (std::size_t i = 0; i < scenarioNames.size(); i++)
        names.emplace(scenarioNames.at(i), static_cast<Scenario>(i));
    command
        .add_option("--scenario", setup.scenario,
                    "what lies in between: bridge, router, router6, bridges, firewall, firewall6, nat, nat6, "
                    "forward, forward6")
        ->transform(CLI::CheckedTransformer(names, CLI::ignore_case).description(""))
        ->default_str("bridge");
    static const std::map<std::string, Generator> generators{{"auto", Generator::automatic},
                                                             {"live", Generator::live},
                                                             {"xdp", Generator::xdp},
                                                             {"packet", Generator::packet}};
    command
        .add_option("--generator", setup.generator,
                    "who sends: live frames of the kernel, an AF_XDP or packet socket, or auto")
        ->transform(CLI::CheckedTransformer(generators, CLI::ignore_case).description(""))
        ->default_str("auto");
    auto& cabling = setup.cabling;
    command.add_option("--tx", cabling.tx, "send by this interface, cabled to the machine under test");
    command.add_option("--rx", cabling.rx, "and receive by this one");
    command.add_option("--dut", cabling.dut,
                       "none, or a command that has that machine forward as a contender, whose name follows");
    command.add_flag("--force", cabling.force, "use interfaces that are in use");
    command.add_option("--ports", setup.ports, "ports of the bridge; frames go between the first two")
        ->capture_default_str()
        ->check(cli::wholeNumber(2, mostOfAnything));
    static const std::map<std::string, Protocol> protocols{{"udp", Protocol::udp}, {"tcp", Protocol::tcp}};
    command.add_option("--protocol", setup.protocol, "what packets carry: udp or tcp")
        ->transform(CLI::CheckedTransformer(protocols, CLI::ignore_case).description(""))
        ->default_str("udp");
    command.add_option("--vlan", setup.vlan, "frames carry an 802.1Q tag of this VLAN")
        ->check(cli::wholeNumber(1, 4094));
    command.add_flag("--vlan-filtering", setup.vlanFiltering, "the bridge filters, and has that VLAN");
    command.add_option("--reverse", setup.reverse, "frames per second that come back meanwhile")
        ->capture_default_str()
        ->check(cli::wholeNumber(0, mostOfAnything));
}

void addAmounts(CLI::App& command, Setup& setup) {
    const auto add = [&](const char* name, unsigned& amount, const char* help) {
        command.add_option(name, amount, help)
            ->capture_default_str()
            ->check(cli::wholeNumber(0, mostOfAnything));
    };
    add("--routes", setup.routes, "of a router: routes that lead to the destinations");
    add("--rules", setup.rules, "netfilter rules that frames meet");
    add("--routing-rules", setup.routingRules, "of a router: routing rules that packets meet");
    add("--entries", setup.entries, "of a bridge: stations that do not talk");
}

void addRounds(CLI::App& command, unsigned& rounds, const char* help) {
    command.add_option("--rounds", rounds, help)
        ->capture_default_str()
        ->check(cli::wholeNumber(0, mostOfAnything));
}

void addSeconds(CLI::App& command, const char* name, double& seconds, const char* help) {
    command.add_option(name, seconds, help)->capture_default_str()->check(cli::number(0, cli::longestTime));
}

int prepareInterfaces(const Setup& setup) {
    if (!setup.cabling.cabled())
        return 0;
    const auto checked = checkInterfaces(setup.cabling, sizesOf(setup).back());
    return checked ? 0 : complain(checked.error().sentence(), ExitCode::usage);
}

namespace {
std::vector<std::string>& arguments() {
    static std::vector<std::string> list;
    return list;
}
} // namespace

void rememberArguments(const std::vector<std::string>& words) {
    arguments() = words;
}

void print(nlohmann::json document) {
    document["arguments"] = arguments();
    fmt::print("{}\n", document.dump(1));
    std::fflush(stdout); // before remarks on standard error, where both go to the same place
}

} // namespace tna::bench
