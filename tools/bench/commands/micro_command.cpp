// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "bench/commands/measurement.hpp"
#include "bench/measure/micro.hpp"
#include "cli/checks.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

namespace tna::bench {

namespace {
struct MicroArguments {
    MicroOptions options;
    std::string budgets;
    bool update = false;
    bool json = false;
};

constexpr std::size_t largestBudgets = 1U << 20U;

/// What profiles may have; nothing where that is not asked.
Result<std::optional<Budgets>> budgetsFor(const MicroArguments& arguments) {
    if (arguments.budgets.empty() || arguments.update)
        return std::nullopt;
    const auto text = readNamedFile(arguments.budgets, largestBudgets);
    if (!text)
        return std::unexpected(text.error());
    auto budgets = parseBudgets(*text);
    if (!budgets)
        return std::unexpected(Error{fmt::format("cannot read '{}'", arguments.budgets),
                                     budgets.error().sentence(),
                                     {},
                                     ExitCode::usage});
    return std::move(*budgets);
}

/// The exit code, after a sentence for each profile that has grown.
int compare(const Budgets& budgets, const std::vector<MicroRow>& rows) {
    const auto sentences = overBudget(rows, budgets);
    for (const auto& sentence : sentences)
        fmt::print(stderr, "{}\n", sentence);
    return sentences.empty() ? 0
                             : complain("programs have grown: make them smaller, or accept it with --update",
                                        ExitCode::failure);
}

int update(const std::string& file, const std::vector<MicroRow>& rows) {
    const auto written = writeFile(file, budgetsText(rows));
    return written ? 0 : complain(written.error().sentence(), ExitCode::failure);
}

int runMicro(MicroArguments& arguments) {
    if (arguments.update && arguments.budgets.empty())
        return complain("--update needs the file: --budgets FILE", ExitCode::usage);
    const auto budgets = budgetsFor(arguments);
    if (!budgets)
        return complain(budgets.error().sentence(), budgets.error().code);
    std::string tnad; // is not run
    return runMeasurement(
        tnad, [&](Watcher& watcher) { return measureMicro(arguments.options, watcher); },
        [&](const auto& rows, const nlohmann::json& machine, bool interrupted) {
            if (arguments.json)
                print(microDocument(arguments.options, machine, rows));
            else
                fmt::print("{}\n{}", machineLine(machine), renderMicro(rows));
            const int code = arguments.update ? update(arguments.budgets, rows)
                             : *budgets       ? compare(**budgets, rows)
                                              : 0;
            return interruptedOr(code, interrupted);
        });
}
} // namespace

void addMicro(CLI::App& app, int& exitCode) {
    auto arguments = std::make_shared<MicroArguments>();
    auto* command = app.add_subcommand("micro", "what each module costs by itself");
    addRounds(*command, arguments->options.rounds, "rounds");
    command->add_option("--frames", arguments->options.frames, "frames in each round; 0: nothing is timed")
        ->capture_default_str()
        ->check(cli::wholeNumber(0, cli::mostTimes));
    command->add_option("--budgets", arguments->budgets,
                        "a file with the most instructions of each profile; more is an error");
    command->add_flag("--update", arguments->update, "write that file instead");
    command->add_flag("--json", arguments->json, "every value, for programs");
    command->footer(
        "Programs are run by hand (BPF_PROG_TEST_RUN) on a frame that they forward, which is sent "
        "nowhere.\nCounts of instructions do not depend on how fast the machine is.");
    command->callback([arguments, &exitCode] { exitCode = runMicro(*arguments); });
}

} // namespace tna::bench
