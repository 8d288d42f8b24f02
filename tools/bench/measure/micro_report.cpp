// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/micro.hpp"
#include "bench/results/document.hpp"
#include "bench/results/statistics.hpp"

#include <algorithm>
#include <sstream>

namespace tna::bench {

namespace {
// Per cent. Kernels write out some helpers in a few instructions more or less; they differ more in how far
// they look ahead when they verify, and processors in what their flaws make compilers add.
constexpr unsigned tolerance = 5;
constexpr unsigned verifiedTolerance = 50;
constexpr unsigned jitedTolerance = 25;
constexpr unsigned prologue = 64; // bytes, which matter for the empty program

std::vector<double> overEmpty(const std::vector<MicroRow>& rows, const MicroRow& row) {
    if (row.guard)
        return row.nanoseconds;
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
    return {{"version", 2},
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
        Budget budget;
        if (!(words >> profile >> budget.instructions >> budget.verified >> budget.jitedBytes) ||
            words >> more)
            return fail("'{}' is no line of a profile, its instructions, those that were verified, and bytes",
                        line);
        budgets[profile] = budget;
    }
    return budgets;
}

std::string budgetsText(const std::vector<MicroRow>& rows) {
    std::string text = fmt::format(
        "# Of each profile: instructions as the kernel runs them, instructions that its verifier walks over, "
        "bytes of\n"
        "# machine code; more than these and {} %, {} %, {} % is an error. 0: the kernel does not tell.\n"
        "# Written by: sudo tna-bench micro --frames 0 --budgets FILE --update\n",
        tolerance, verifiedTolerance, jitedTolerance);
    Budgets sorted;
    for (const auto& row : rows) {
        if (row.guard)
            continue;
        auto& budget = sorted[row.profile];
        budget = {std::max(budget.instructions, row.instructions), std::max(budget.verified, row.verified),
                  std::max(budget.jitedBytes, row.jitedBytes)};
    }
    for (const auto& [profile, budget] : sorted)
        text +=
            fmt::format("{} {} {} {}\n", profile, budget.instructions, budget.verified, budget.jitedBytes);
    return text;
}

std::vector<std::string> overBudget(const std::vector<MicroRow>& rows, const Budgets& budgets) {
    std::vector<std::string> sentences;
    for (const auto& row : rows) {
        if (row.guard)
            continue;
        const auto budget = budgets.find(row.profile);
        if (budget == budgets.end()) {
            sentences.push_back(
                fmt::format("{} has no budget; it has {} instructions", row.profile, row.instructions));
            continue;
        }
        const auto compare = [&](unsigned has, unsigned may, unsigned percent, const char* what,
                                 unsigned slack = 0) {
            if (may != 0 && has * 100UL > may * (100UL + percent) + slack * 100UL)
                sentences.push_back(
                    fmt::format("{} has {} {}, its budget is {}", row.profile, has, what, may));
        };
        compare(row.instructions, budget->second.instructions, tolerance, "instructions");
        compare(row.verified, budget->second.verified, verifiedTolerance, "instructions to verify");
        compare(row.jitedBytes, budget->second.jitedBytes, jitedTolerance, "bytes of machine code", prologue);
    }
    return sentences;
}

} // namespace tna::bench
