// SPDX-License-Identifier: Apache-2.0
#include "base/printable.hpp"
#include "base/program.hpp"
#include "cli/checks.hpp"
#include "cli/refusal.hpp"
#include "diff/commands.hpp"
#include "diff/interruption.hpp"

#include <algorithm>
#include <cerrno>

#include <spdlog/spdlog.h>

namespace {
constexpr const char* exitCodes =
    "Exit codes: 0 no difference, 1 a difference or a failure, 2 wrong command line or script, 3 not root, "
    "4 this machine lacks what is needed; interrupted, it ends by the signal (130 for Ctrl-C).\n"
    "Everything happens between network namespaces without names, which are gone with the program.";

int parseAndRun(const std::vector<std::string>& words) {
    CLI::App app{"Tells plain Linux and Linux with tna apart, if it can: two worlds with the same "
                 "configuration get the "
                 "same packets, and all that comes out is compared."};
    app.require_subcommand(1);
    app.set_version_flag("--version", "tna-diff " TNA_VERSION);
    app.footer(exitCodes);
    int exitCode = 0;
    tna::diff::addRandom(app, exitCode);
    tna::diff::addRun(app, exitCode);
    tna::cli::refuseEmptyWords(app);
    return tna::cli::parse(app, words, "tna-diff").value_or(exitCode);
}
} // namespace

int tna::diff::giveUp(const Error& error) {
    auto sentence = printableLines(error.sentence());
    sentence.erase(sentence.find_last_not_of('\n') + 1); // of what a command has said
    fmt::print(stderr, "tna-diff: {}\n", sentence);
    const bool forbidden = error.number == EPERM || error.number == EACCES; // root of a container
    return static_cast<int>(error.code == ExitCode::failure && forbidden ? ExitCode::noPermission
                                                                         : error.code);
}

int main(int argc, char** argv) {
    spdlog::set_level(spdlog::level::warn); // the daemon's own words about each port
    const std::vector<std::string> words{argv + std::min(argc, 1), argv + argc};
    const int code = tna::runProgram("tna-diff", [&] { return parseAndRun(words); });
    tna::diff::endIfInterrupted();
    return code;
}
