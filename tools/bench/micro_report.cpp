// SPDX-License-Identifier: Apache-2.0
#include "bench/micro.hpp"
#include "bench/report.hpp"
#include "bench/statistics.hpp"

#include <algorithm>
#include <sstream>

namespace tna::bench {

namespace {
/// Kernels write out some helpers in a few instructions more or less.
constexpr unsigned tolerance = 5; // per cent

std::vector<double> overEmpty(const std::vector<MicroRow>& rows, const MicroRow& row) {
    std::vector<double> differences;
    for (std::size_t i = 0; i < std::min(row.nanoseconds.size(), rows.front().nanoseconds.size()); i++)
        differences.push_back(row.nanoseconds[i] - rows.front().nanoseconds[i]);
    return differences;
}

std::string line(const std::vector<MicroRow>& rows, const MicroRow& row) {
    auto text = fmt::format("{:<27} {:<34} {:>6} {:>8} {:>7}  ", row.module, row.profile, row.instructions,
                            row.verified == 0 ? "-" : std::to_string(row.verified), row.jitedBytes);
    if (row.nanoseconds.empty())
        return text + (row.notTimed.empty() ? "-" : row.notTimed) + "\n";
    return text + fmt::format("{:<22} {:>6.1f}\n", spreadText(row.nanoseconds),
                              summarise(overEmpty(rows, row)).median);
}
} // namespace

std::string renderMicro(const std::vector<MicroRow>& rows) {
    std::string text =
        "Run by hand on one frame again and again: median and quartiles of the rounds; over the empty "
        "program, round by round.\n\n"
        "what                        profile                            instr. verified   bytes  ns "
        "per frame           over empty\n";
    for (const auto& row : rows)
        text += line(rows, row);
    return text;
}

nlohmann::json microDocument(const MicroOptions& options, const nlohmann::json& machine,
                             const std::vector<MicroRow>& rows) {
    nlohmann::json list = nlohmann::json::array();
    for (const auto& row : rows)
        list.push_back({{"module", row.module},
                        {"profile", row.profile},
                        {"instructions", row.instructions},
                        {"verified_instructions", row.verified},
                        {"jited_bytes", row.jitedBytes},
                        {"ns", summaryDocument(row.nanoseconds)},
                        {"over_empty_ns", summaryDocument(overEmpty(rows, row))},
                        {"rounds_ns", row.nanoseconds},
                        {"not_timed", textOrNull(row.notTimed)}});
    return {{"version", 1},
            {"command", "micro"},
            {"machine", machine},
            {"options", {{"rounds", options.rounds}, {"frames", options.frames}}},
            {"rows", list}};
}

Result<Budgets> parseBudgets(const std::string& text) {
    Budgets budgets;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.starts_with('#'))
            continue;
        std::istringstream words{line};
        std::string profile;
        std::string more;
        unsigned instructions = 0;
        if (!(words >> profile >> instructions) || words >> more)
            return fail("'{}' is no line of a profile and its instructions", line);
        budgets[profile] = instructions;
    }
    return budgets;
}

std::string budgetsText(const std::vector<MicroRow>& rows) {
    std::string text =
        "# Instructions of each profile, as the kernel runs them; more than these and 5 % is an error.\n"
        "# Written by: sudo tna-bench micro --budgets FILE --update\n";
    Budgets sorted;
    for (const auto& row : rows)
        sorted[row.profile] = std::max(sorted[row.profile], row.instructions);
    for (const auto& [profile, instructions] : sorted)
        text += fmt::format("{} {}\n", profile, instructions);
    return text;
}

std::vector<std::string> overBudget(const std::vector<MicroRow>& rows, const Budgets& budgets) {
    std::vector<std::string> sentences;
    for (const auto& row : rows) {
        const auto budget = budgets.find(row.profile);
        if (budget == budgets.end())
            sentences.push_back(
                fmt::format("{} has no budget; it has {} instructions", row.profile, row.instructions));
        else if (row.instructions * 100 > budget->second * (100 + tolerance))
            sentences.push_back(fmt::format("{} has {} instructions, its budget is {}", row.profile,
                                            row.instructions, budget->second));
    }
    return sentences;
}

} // namespace tna::bench
