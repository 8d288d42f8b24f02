// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "bench/contender.hpp"
#include "bench/measurement.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <memory>
#include <thread>

namespace tna::bench {

namespace {
/// Of the documents that are written (report.hpp).
constexpr int resultVersion = 3;

struct Arguments {
    ThroughputOptions options;
    bool json = false;
    bool quick = false;
    bool paper = false;
    std::string repeat;
};

unsigned sizeOf(const nlohmann::json& size) {
    return size == "imix" ? imix : size.get<unsigned>();
}

ThroughputOptions optionsOf(const nlohmann::json& described) {
    ThroughputOptions options;
    const auto* const name = std::ranges::find(scenarioNames, described.at("scenario").get<std::string>());
    options.setup.scenario = static_cast<Scenario>(name - scenarioNames.begin());
    described.at("routes").get_to(options.setup.routes);
    described.at("vlan").get_to(options.setup.vlan);
    described.at("vlan_filtering").get_to(options.setup.vlanFiltering);
    options.setup.protocol = described.at("protocol") == "tcp" ? Protocol::tcp : Protocol::udp;
    described.at("reverse").get_to(options.setup.reverse);
    described.at("contenders").get_to(options.contenders);
    described.at("stations").get_to(options.stations);
    described.at("cpus").get_to(options.cpus);
    described.at("rounds").get_to(options.rounds);
    described.at("seconds").get_to(options.seconds);
    const auto& sizes = described.at("frame_size");
    options.sizes.clear();
    for (const auto& size : sizes.is_array() ? sizes : nlohmann::json::array({sizes}))
        options.sizes.push_back(sizeOf(size));
    return options;
}

/// What was measured, as a result file says.
Result<ThroughputOptions> optionsOfFile(const std::string& file) {
    const auto text = readFile(file);
    if (!text)
        return std::unexpected(text.error());
    const auto document = nlohmann::json::parse(*text, nullptr, false);
    if (document.is_discarded())
        return fail("'{}' is no whole result file", file);
    try {
        if (!document.is_object() || document.value("command", "") != "throughput")
            return fail("'{}' is no result of tna-bench throughput", file);
        if (const int version = document.value("version", 0); version != resultVersion)
            return fail("'{}' has version {}, this program repeats version {}", file, version, resultVersion);
        if (std::ranges::count(scenarioNames, document.at("options").at("scenario").get<std::string>()) == 0)
            return fail("'{}' has a scenario that this program does not know", file);
        return optionsOf(document.at("options"));
    } catch (const nlohmann::json::exception& damage) {
        return fail("'{}' is damaged ({})", file, damage.what());
    }
}

std::string problemWithOptions(const ThroughputOptions& options) {
    if (auto problem = problemWithContenders(options.contenders, options.setup.scenario); !problem.empty())
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

int run(Arguments& arguments) {
    auto& options = arguments.options;
    if (!arguments.repeat.empty()) {
        auto repeated = optionsOfFile(arguments.repeat);
        if (!repeated)
            return complain("cannot repeat: " + repeated.error().sentence(), ExitCode::failure);
        repeated->tnad = options.tnad;
        options = std::move(*repeated);
    }
    const auto scenario = options.setup.scenario;
    options.contenders = options.contenders.empty() ? usualContenders(scenario)
                                                    : expandContenders(options.contenders, scenario);
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
    auto arguments = std::make_shared<Arguments>();
    auto& options = arguments->options;
    auto* command = app.add_subcommand("throughput", "frames per second at full offer");
    addContenders(*command, options.contenders);
    addSetup(*command, options.setup);
    command
        ->add_option("--stations", options.stations,
                     "numbers of pairs of stations that talk; or destinations")
        ->delimiter(',')
        ->capture_default_str();
    command->add_option("--cpus", options.cpus, "numbers of CPUs")->delimiter(',')->capture_default_str();
    addSizes(*command, options.sizes);
    command->add_option("--rounds", options.rounds, "rounds")->capture_default_str();
    command->add_option("--seconds", options.seconds, "length of each measurement")->capture_default_str();
    addTnad(*command, options.tnad);
    command->add_flag("--json", arguments->json, "every round, for programs");
    auto* quick = command->add_flag("--quick", arguments->quick, "ten rounds on one CPU");
    auto* paper =
        command->add_flag("--paper", arguments->paper,
                          "ten rounds of ten seconds, with 15,000 frames per second that come back");
    paper->excludes(quick);
    command->add_option("--repeat", arguments->repeat, "measure what was measured in a result file (--json)")
        ->excludes(quick)
        ->excludes(paper);
    command->footer(
        "bridge: of two ports; router, router6: two ports with IPv4 or IPv6 addresses; bridges: two bridges "
        "with IPv4 addresses.\n" +
        contenderHelp() +
        "Before anything is timed a frame of each flow and size is sent, and compared at the far end; then a "
        "TCP\nconnection is made.");
    command->callback([arguments, &exitCode] { exitCode = run(*arguments); });
}

} // namespace tna::bench
