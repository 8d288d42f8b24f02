// SPDX-License-Identifier: Apache-2.0
#include "bench/commands/commands.hpp"
#include "bench/testbed/tnad.hpp"

#include <cerrno>
#include <CLI/CLI.hpp>
#include <memory>
#include <unistd.h>

namespace tna::bench {

namespace {
struct ReportArguments {
    std::vector<std::string> results;
    std::string output = "tna-bench.html";
    std::string title = "tna-bench";
};

/// The program that draws, as built or as installed.
std::string findReport() {
    const auto own = ownFolder();
    for (const auto& candidate :
         {own / "report/main.py", own.parent_path() / "libexec/tna/bench-report/main.py"})
        if (::access(candidate.c_str(), X_OK) == 0)
            return candidate;
    return {};
}

/// Becomes the other program; returns only if that fails.
int runReport(const ReportArguments& arguments) {
    const auto program = findReport();
    if (program.empty())
        return complain("its report program is missing: install tna-bench again", ExitCode::notSupported);
    std::vector<std::string> words{program, "--output", arguments.output, "--title", arguments.title, "--"};
    words.insert(words.end(), arguments.results.begin(), arguments.results.end());
    std::vector<char*> list;
    for (auto& word : words)
        list.push_back(word.data());
    list.push_back(nullptr);
    ::execv(program.c_str(), list.data());
    return complain(fmt::format("cannot run '{}': {}; apt-get install python3-matplotlib python3-jinja2",
                                program, errnoText(errno)),
                    ExitCode::notSupported);
}
} // namespace

void addReport(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<ReportArguments>();
    auto* command = app.add_subcommand("report", "one HTML page of result files, with pictures");
    command->add_option("result", arguments->results, "files written by the other commands with --json")
        ->required();
    command->add_option("--output", arguments->output, "the page")->capture_default_str();
    command->add_option("--title", arguments->title, "its title")->capture_default_str();
    command->footer("Two throughput results of the same scenario are compared as well.\n"
                    "Needs python3-matplotlib and python3-jinja2, of studies python3-sklearn, python3-scipy "
                    "and python3-seaborn as well;\nand no privileges.");
    command->callback([arguments, &exitCode] { exitCode = runReport(*arguments); });
}

} // namespace tna::bench
