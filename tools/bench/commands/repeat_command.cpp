// SPDX-License-Identifier: Apache-2.0
#include "base/file.hpp"
#include "bench/commands/commands.hpp"

#include <algorithm>
#include <array>
#include <CLI/CLI.hpp>
#include <memory>

namespace tna::bench {

namespace {
constexpr std::array<std::string_view, 11> measuring{"throughput", "rfc2544", "latency",    "kill",
                                                     "reaction",   "change",  "containers", "micro",
                                                     "delays",     "tenants", "functions"};

constexpr std::size_t largestResult = 1U << 30U;

struct RepeatArguments {
    std::string result;
    std::string tnad;
};

/// The command line that a result file has.
Result<std::vector<std::string>> argumentsOf(const std::string& file) {
    const auto text = readNamedFile(file, largestResult);
    if (!text)
        return std::unexpected(text.error());
    const auto document = nlohmann::json::parse(*text, nullptr, false);
    if (document.is_discarded())
        return fail("'{}' is no whole result file", file);
    const auto command = document.is_object() ? document.find("command") : document.end();
    if (command == document.end() || !command->is_string() ||
        std::ranges::count(measuring, command->get<std::string>()) == 0)
        return fail("'{}' is no result of tna-bench", file);
    const auto words = document.find("arguments");
    if (words == document.end())
        return fail("'{}' does not say how it was measured: it is of an older version", file);
    if (!words->is_array() || words->empty() ||
        !std::ranges::all_of(*words, [](const auto& word) { return word.is_string(); }) ||
        words->front() != *command)
        return fail("'{}' is damaged: its command line is none", file);
    return words->get<std::vector<std::string>>();
}

void removeOption(std::vector<std::string>& words, const std::string& option) {
    std::erase_if(words, [&](const std::string& word) { return word.starts_with(option + "="); });
    if (const auto named = std::ranges::find(words, option); named != words.end())
        words.erase(named, named + std::min<std::ptrdiff_t>(2, words.end() - named));
}
} // namespace

void addRepeat(CLI::App& app, int& exitCode, const std::function<int(const std::vector<std::string>&)>& run) {
    auto arguments = std::make_shared<RepeatArguments>();
    auto* command =
        app.add_subcommand("repeat", "measure what was measured in a result file, in the same way");
    command->add_option("result", arguments->result, "a file written by another command with --json")
        ->required();
    addTnad(*command, arguments->tnad);
    command->callback([arguments, &exitCode, run] {
        auto words = argumentsOf(arguments->result);
        if (!words) {
            exitCode = complain("cannot repeat: " + words.error().sentence(), words.error().code);
            return;
        }
        // What was found then is not to be found again, but measured.
        removeOption(*words, "--journal");
        if (!arguments->tnad.empty()) {
            removeOption(*words, "--tnad");
            words->insert(words->end(), {"--tnad", arguments->tnad});
        }
        exitCode = run(*words);
    });
}

} // namespace tna::bench
