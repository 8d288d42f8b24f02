// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/function.hpp"

#include "base/file.hpp"

#include <array>

namespace tna::bench {

namespace {
std::string countsIn(const TemporaryFolder& folder) {
    return folder.path() + "/counts";
}

std::string errorsIn(const TemporaryFolder& folder) {
    return folder.path() + "/errors";
}

std::vector<std::string> wordsOf(const Contest& contest, std::size_t rules) {
    const auto settings = settingsOf(contest.one);
    constexpr std::array<const char*, 3> then{"send", "drop", "back"};
    return {contest.workload,
            nameOf(contest.one.work),
            "work",
            "--entries",
            std::to_string(rules),
            "--sessions",
            std::to_string(settings.sessions),
            "--times",
            std::to_string(settings.times),
            "--then",
            then.at(static_cast<std::size_t>(contest.one.which))};
}
} // namespace

Result<Counted> FunctionContestant::dropped() {
    constexpr std::size_t place = 3; // tna-workload(1)
    return countedIn(countsIn(folder_), place);
}

std::string FunctionContestant::complaint() {
    return process_.running() ? lastLine(errorsIn(folder_)) : "tna-workload " + process_.ending();
}

Result<std::unique_ptr<FunctionContestant>> FunctionContestant::start(const Contest& contest, bool busy,
                                                                      std::size_t rules) {
    const auto& place = contest.side.place();
    auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    const auto declared = fmt::format("users = [\"root\"]\nports = [\"{}\"]\notherwise = \"drop\"\n"
                                      "frames = {}\n[[rule]]\n",
                                      place.deviceName(), frameMemory);
    if (auto written = writeFile(folder->path() + "/work.toml", declared); !written)
        return std::unexpected(written.error());
    if (auto written = writeFile(countsIn(*folder), std::string(32, '\0')); !written)
        return std::unexpected(written.error());
    const auto inside = NamespaceScope::enter(place.device());
    if (!inside)
        return std::unexpected(inside.error());
    auto tnad = Tnad::startAs(
        contest.tnad,
        fmt::format(
            "[ports]\nexclude_kinds = []\n[modules]\ndirectory = \"\"\n[functions]\ndirectory = \"{}\"\n",
            folder->path()));
    if (!tnad)
        return std::unexpected(tnad.error());
    auto words = wordsOf(contest, rules);
    for (const auto& word :
         {std::string{"--socket"}, tnad->functionSocket(), std::string{"--counts"}, countsIn(*folder)})
        words.push_back(word);
    if (busy)
        words.emplace_back("--busy");
    auto process = ProgramUnderTest::start(contest.side, words, errorsIn(*folder));
    if (!process)
        return std::unexpected(process.error());
    return std::unique_ptr<FunctionContestant>{
        new FunctionContestant(std::move(*folder), std::move(*tnad), std::move(*process))};
}

Started startFunction(const Contest& contest, bool busy) {
    return FunctionContestant::start(contest, busy, settingsOf(contest.one).entries);
}

} // namespace tna::bench
