// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/contestant.hpp"

#include "base/file.hpp"
#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"
#include "bench/testbed/tnad.hpp"
#include "bench/traffic/traffic.hpp"

#include <filesystem>
#include <sched.h>

namespace tna::bench {

namespace {
class XdpSwapper : public Contestant {
public:
    explicit XdpSwapper(UniqueFd link) : link_(std::move(link)) {}

private:
    UniqueFd link_;
};

/// What is started while this lives runs on one processor.
class StartedOn {
public:
    explicit StartedOn(unsigned cpu) {
        ::sched_getaffinity(0, sizeof(before_), &before_);
        pinTo(cpu);
    }
    ~StartedOn() { ::sched_setaffinity(0, sizeof(before_), &before_); }
    StartedOn(const StartedOn&) = delete;
    StartedOn& operator=(const StartedOn&) = delete;

private:
    cpu_set_t before_{};
};

/// Members in the order in which they are needed: the function goes before the daemon.
class FunctionSwapper : public Contestant {
public:
    FunctionSwapper(TemporaryFolder folder, Tnad tnad, Process function)
        : folder_(std::move(folder)), tnad_(std::move(tnad)), function_(std::move(function)) {}
    std::string complaint() override {
        return function_.running() ? lastLine(folder_.path() + "/errors")
                                   : "tna-workload " + function_.ending();
    }

private:
    TemporaryFolder folder_;
    Tnad tnad_;
    Process function_;
};
} // namespace

Result<std::unique_ptr<Contestant>> startXdp(const Contest& contest) {
    const auto& place = contest.side.place();
    const auto inside = NamespaceScope::enter(place.device());
    if (!inside)
        return std::unexpected(inside.error());
    auto link = attachXdp(contest.side.swapProgram(), place.deviceName());
    if (!link)
        return std::unexpected(link.error());
    return std::make_unique<XdpSwapper>(std::move(*link));
}

Result<std::unique_ptr<Contestant>> startFunction(const Contest& contest, bool busy) {
    const auto& place = contest.side.place();
    auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    const auto declared = fmt::format(
        "users = [\"root\"]\nports = [\"{}\"]\notherwise = \"drop\"\n[[rule]]\n", place.deviceName());
    if (auto written = writeFile(folder->path() + "/swap.toml", declared); !written)
        return std::unexpected(written.error());
    const auto inside = NamespaceScope::enter(place.device());
    if (!inside)
        return std::unexpected(inside.error());
    auto tnad = Tnad::startAs(
        contest.tnad,
        fmt::format("[ports]\nexclude_kinds = []\n[functions]\ndirectory = \"{}\"\n", folder->path()));
    if (!tnad)
        return std::unexpected(tnad.error());
    std::vector<std::string> words{contest.workload, "macswap", "swap", "--socket", tnad->functionSocket()};
    if (busy)
        words.emplace_back("--busy");
    const StartedOn processor{contest.cpu};
    auto function = Process::start(words, folder->path() + "/errors");
    if (!function)
        return std::unexpected(function.error());
    return std::make_unique<FunctionSwapper>(std::move(*folder), std::move(*tnad), std::move(*function));
}

} // namespace tna::bench
