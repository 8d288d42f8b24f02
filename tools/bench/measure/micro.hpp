// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/progress.hpp"

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace tna::bench {

struct MicroOptions {
    unsigned rounds = 15;
    unsigned frames = 200'000; ///< in each round; 0: nothing is timed
};

/// One profile of the fast path.
struct MicroRow {
    std::string profile;
    std::string module; ///< what of it is run
    unsigned instructions = 0;
    unsigned verified = 0; ///< instructions that the verifier walked over; 0 if the kernel does not tell
    unsigned jitedBytes = 0;
    std::vector<double> nanoseconds; ///< for each frame, round by round
    std::string notTimed;
    /// A guard by itself: counts and times are of one look, without all that is around it.
    bool guard = false;
};

/// Each profile run by hand on a frame that it forwards (BPF_PROG_TEST_RUN), beside a program that does
/// nothing, which is the first row; and each guard.
[[nodiscard]] Result<std::vector<MicroRow>> measureMicro(const MicroOptions& options, Watcher& watcher);

[[nodiscard]] std::string renderMicro(const std::vector<MicroRow>& rows);
/// Version 2.
[[nodiscard]] nlohmann::json microDocument(const MicroOptions& options, const nlohmann::json& machine,
                                           const std::vector<MicroRow>& rows);

/// The most that each profile may have; 0: no limit.
struct Budget {
    unsigned instructions = 0;
    unsigned verified = 0;
    unsigned jitedBytes = 0;
    bool operator==(const Budget&) const = default;
};
using Budgets = std::map<std::string, Budget>;

/// Of lines "PROFILE INSTRUCTIONS VERIFIED BYTES"; those that begin with # are comments.
[[nodiscard]] Result<Budgets> parseBudgets(const std::string& text);
[[nodiscard]] std::string budgetsText(const std::vector<MicroRow>& rows);
/// What exceeds its budget by more than kernels differ, or has none; a sentence each.
[[nodiscard]] std::vector<std::string> overBudget(const std::vector<MicroRow>& rows, const Budgets& budgets);

} // namespace tna::bench
