// SPDX-License-Identifier: Apache-2.0
#include "base/program.hpp"
#include "bench/commands/commands.hpp"
#include "cli/checks.hpp"
#include "cli/refusal.hpp"

#include <algorithm>
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace {
constexpr const char* footer =
    "Exit codes: 0 done, 1 something failed or was not measured, 2 wrong command line, "
    "3 not root, 4 this machine lacks what is needed.\n"
    "Everything happens between network namespaces of its own, which are removed at "
    "the end; absolute figures hold for one machine, ratios travel.\n"
    "\n"
    "Examples:\n"
    "  tna-bench throughput --quick                  a bridge: plain Linux, tna and the ceiling, side by "
    "side\n"
    "  tna-bench throughput --scenario router --stations 200 --json >router.json\n"
    "  tna-bench throughput --scenario firewall --rules 10 --stations 1,200 --cpus 1\n"
    "  tna-bench report router.json                  the result as a page with pictures\n"
    "  tna-bench micro                               nanoseconds and instructions of each module\n"
    "  tna-bench rfc2544 --tx eth1 --rx eth2         through a machine that is cabled to this one";

int parseAndRun(const std::vector<std::string>& words) {
    CLI::App app{"Measures tna: against plain Linux and against the least that forwarding can cost."};
    app.require_subcommand(1);
    app.set_version_flag("--version", "tna-bench " TNA_VERSION);
    app.footer(footer);
    int exitCode = 0;
    tna::bench::addThroughput(app, exitCode);
    tna::bench::addLatency(app, exitCode);
    tna::bench::addRfc2544(app, exitCode);
    tna::bench::addKill(app, exitCode);
    tna::bench::addReaction(app, exitCode);
    tna::bench::addContainers(app, exitCode);
    tna::bench::addChange(app, exitCode);
    tna::bench::addMicro(app, exitCode);
    tna::bench::addDelays(app, exitCode);
    tna::bench::addTenants(app, exitCode);
    tna::bench::addFunctions(app, exitCode);
    tna::bench::addReport(app, exitCode);
    tna::bench::addRepeat(app, exitCode, parseAndRun);
    app.add_subcommand("clean", "remove what killed runs have left")->callback([] {
        const auto removed = tna::bench::removeAllLeftovers();
        fmt::print("{} namespaces and {} folders removed\n", removed.namespaces, removed.folders);
        if (removed.groups != 0)
            fmt::print("{} control groups removed, with the processes in them\n", removed.groups);
    });
    tna::bench::rememberArguments(words);
    tna::cli::refuseEmptyWords(app);
    return tna::cli::parse(app, words, "tna-bench").value_or(exitCode);
}
} // namespace

int main(int argc, char** argv) {
    return tna::runProgram("tna-bench", [&] { return parseAndRun({argv + std::min(argc, 1), argv + argc}); });
}
