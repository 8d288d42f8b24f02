// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/commands/commands.hpp"
#include "bench/measure/progress.hpp"
#include "bench/results/document.hpp"
#include "bench/testbed/scenario.hpp"

#include <memory>

namespace tna::bench {

/// What all commands do around `Result measure(Watcher&)` when all is there that they need: take priority,
/// watch for an interruption, complain. `int show(result, machine, interrupted)` prints and gives the exit
/// code. Whatever ends it, nothing is left behind, in `folder` either.
template <typename Measure, typename Show>
[[nodiscard]] int runPrepared(Measure measure, Show show, const std::string& folder = usualFolder) {
    const auto machine = describeMachine();
    takePriority();
    const auto will = leaveNothingBehind(folder);
    if (!will)
        return complain(will.error().sentence(), will.error().code);
    auto watcher = std::make_unique<TerminalWatcher>();
    const auto result = measure(*watcher);
    const bool interrupted = watcher->interrupted();
    watcher.reset();
    if (!result)
        return complain(result.error().sentence(), result.error().code);
    return show(*result, machine, interrupted);
}

/// After finding the daemon.
template <typename Measure, typename Show>
[[nodiscard]] int runMeasurement(std::string& tnad, Measure measure, Show show,
                                 const std::string& folder = usualFolder) {
    const int code = prepare(tnad);
    return code != 0 ? code : runPrepared(measure, show, folder);
}

/// Without one.
template <typename Measure, typename Show>
[[nodiscard]] int runStudy(Measure measure, Show show) {
    const int code = prepare();
    return code != 0 ? code : runPrepared(measure, show);
}

/// The exit code where what was measured before an interruption is of use.
[[nodiscard]] inline int interruptedOr(int code, bool interrupted) {
    return interrupted ? complain("interrupted; what was measured is shown", ExitCode::failure) : code;
}

} // namespace tna::bench
