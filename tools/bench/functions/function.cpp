// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/contestant.hpp"

#include "base/file.hpp"
#include "bench/functions/program.hpp"
#include "bench/testbed/temporary_folder.hpp"
#include "bench/testbed/tnad.hpp"

#include <array>

namespace tna::bench {

namespace {
/// Members in the order in which they are needed: the function goes before the daemon.
class Function : public Contestant {
public:
    Function(TemporaryFolder folder, Tnad tnad, ProgramUnderTest process)
        : folder_(std::move(folder)), tnad_(std::move(tnad)), process_(std::move(process)) {}
    static std::string counts(const TemporaryFolder& folder) { return folder.path() + "/counts"; }
    static std::string errors(const TemporaryFolder& folder) { return folder.path() + "/errors"; }
    Result<Counted> dropped() override {
        constexpr std::size_t place = 3; // tna-workload(1)
        return countedIn(counts(folder_), place);
    }
    std::string complaint() override {
        return process_.running() ? lastLine(errors(folder_)) : "tna-workload " + process_.ending();
    }
    bool ended() override { return !process_.running(); }

private:
    TemporaryFolder folder_;
    Tnad tnad_;
    ProgramUnderTest process_;
};

std::vector<std::string> wordsOf(const Contest& contest) {
    const auto settings = settingsOf(contest.one);
    constexpr std::array<const char*, 3> then{"send", "drop", "back"};
    return {contest.workload,
            nameOf(contest.one.work),
            "work",
            "--entries",
            std::to_string(settings.entries),
            "--sessions",
            std::to_string(settings.sessions),
            "--times",
            std::to_string(settings.times),
            "--then",
            then.at(static_cast<std::size_t>(contest.one.which))};
}
} // namespace

Started startFunction(const Contest& contest, bool busy) {
    const auto& place = contest.side.place();
    auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    const auto declared = fmt::format("users = [\"root\"]\nports = [\"{}\"]\notherwise = \"drop\"\n"
                                      "frames = {}\n[[rule]]\n",
                                      place.deviceName(), frameMemory);
    if (auto written = writeFile(folder->path() + "/work.toml", declared); !written)
        return std::unexpected(written.error());
    if (auto written = writeFile(Function::counts(*folder), std::string(32, '\0')); !written)
        return std::unexpected(written.error());
    const auto inside = NamespaceScope::enter(place.device());
    if (!inside)
        return std::unexpected(inside.error());
    auto tnad = Tnad::startAs(
        contest.tnad,
        fmt::format("[ports]\nexclude_kinds = []\n[functions]\ndirectory = \"{}\"\n", folder->path()));
    if (!tnad)
        return std::unexpected(tnad.error());
    auto words = wordsOf(contest);
    for (const auto& word : {std::string{"--socket"}, tnad->functionSocket(), std::string{"--counts"},
                             Function::counts(*folder)})
        words.push_back(word);
    if (busy)
        words.emplace_back("--busy");
    auto process = ProgramUnderTest::start(contest.side, words, Function::errors(*folder));
    if (!process)
        return std::unexpected(process.error());
    return std::make_unique<Function>(std::move(*folder), std::move(*tnad), std::move(*process));
}

} // namespace tna::bench
