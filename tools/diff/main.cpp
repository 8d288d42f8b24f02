// SPDX-License-Identifier: Apache-2.0
#include "base/program.hpp"
#include "diff/commands.hpp"

#include <spdlog/spdlog.h>

namespace {
constexpr const char* exitCodes =
    "Exit codes: 0 no difference, 1 a difference or a failure, 2 wrong command line or script, 3 not root, "
    "4 this machine lacks what is needed.\n"
    "Everything happens between network namespaces without names, which are gone with the program.";

int parseAndRun(int argc, char** argv) {
    CLI::App app{"Tells plain Linux and Linux with tna apart, if it can: two worlds with the same "
                 "configuration get the "
                 "same packets, and all that comes out is compared."};
    app.require_subcommand(1);
    app.set_version_flag("--version", "tna-diff " TNA_VERSION);
    app.footer(exitCodes);
    int exitCode = 0;
    tna::diff::addRandom(app, exitCode);
    tna::diff::addRun(app, exitCode);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : static_cast<int>(tna::ExitCode::usage);
    }
    return exitCode;
}
} // namespace

int main(int argc, char** argv) {
    spdlog::set_level(spdlog::level::warn); // the daemon's own words about each port
    return tna::runProgram("tna-diff", [&] { return parseAndRun(argc, argv); });
}
