// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/measurement.hpp"
#include "bench/measure/containers.hpp"

#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
struct ContainersArguments {
    ContainersOptions options;
    std::string rules = "none";
    bool json = false;
};

int runContainers(ContainersArguments& arguments) {
    auto& options = arguments.options;
    options.docker = arguments.rules == "docker";
    if (options.rounds == 0 || options.seconds <= 0)
        return complain("--rounds must be at least 1, --seconds more than 0", ExitCode::usage);
    return runMeasurement(
        options.tnad, [&](Watcher& watcher) { return measureContainers(options, watcher); },
        [&](const auto& result, const nlohmann::json& machine, bool interrupted) {
            if (arguments.json)
                print(containersDocument(options, machine, result));
            else
                fmt::print("{}\n{}", machineLine(machine), renderContainers(options, result));
            return interruptedOr(0, interrupted);
        });
}
} // namespace

void addContainers(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<ContainersArguments>();
    auto& options = arguments->options;
    auto* command =
        app.add_subcommand("containers", "sockets of two containers: plain Linux and tna at tcx, in turn");
    command->add_flag("--routed", options.routed, "on ports of a router instead of a bridge");
    command
        ->add_flag("--outside", options.outside,
                   "one on a bridge, the other outside, behind a port with a queue")
        ->excludes("--routed");
    command
        ->add_option(
            "--rules", arguments->rules,
            "none; or docker: those that Docker loads, called for bridged packets, too (br_netfilter)")
        ->check(CLI::IsMember({"none", "docker"}))
        ->capture_default_str();
    addRounds(*command, options.rounds, "of both, who is first in turn");
    addSeconds(*command, "--seconds", options.seconds, "length of each measurement");
    addTnad(*command, options.tnad);
    command->add_flag("--json", arguments->json, "every value, for programs");
    command->callback([arguments, &exitCode] { exitCode = runContainers(*arguments); });
}

} // namespace tna::bench
