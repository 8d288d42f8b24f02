// SPDX-License-Identifier: Apache-2.0
#include "diff/find.hpp"

#include "diff/interruption.hpp"
#include "diff/report.hpp"
#include "diff/shrink.hpp"

namespace tna::diff {

namespace {
std::string sizeOf(const Case& what) {
    std::size_t packets = 0;
    for (const auto& step : what.steps)
        packets += std::holds_alternative<Packet>(step);
    return fmt::format("{} packets and {} commands", packets, what.steps.size() - packets);
}
} // namespace

Result<std::string> isolate(const Stage& stage, const Case& what, const Outcome& outcome,
                            const Options& options, const std::string& folder,
                            std::chrono::seconds patience) {
    Case small = what;
    // What comes after it was seen does not matter.
    if (outcome.difference->step + 1 < small.steps.size())
        small.steps.resize(outcome.difference->step + 1);
    const auto shows = [&](const Case& candidate) {
        const auto again = stage.play(candidate, options);
        return again && again->difference && again->difference->where == outcome.difference->where;
    };
    const bool always = shows(small);
    if (always)
        small = shrink(std::move(small), shows, patience);
    else
        small = what;
    auto keeping = options;
    keeping.keep = true;
    auto last = interrupted() ? Result<Outcome>(outcome) : stage.play(small, keeping);
    if (!last && interrupted())
        last = outcome;
    if (!last)
        return std::unexpected(last.error());
    if (!last->difference)
        last->difference = outcome.difference;
    const auto told = [&](const std::string& where) {
        return fmt::format("a difference{}; {}; {}:\n{}{}", always ? "" : " that did not come again",
                           sizeOf(small), where, scriptOf(small), text(*last->difference));
    };
    if (auto saved = save(folder, small, *last); !saved)
        return told("which cannot be written: " + saved.error().sentence());
    return told("in " + folder) + fmt::format("run it again: tna-diff run {}\n", folder);
}

} // namespace tna::diff
