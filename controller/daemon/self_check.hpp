// SPDX-License-Identifier: Apache-2.0
// What the fast path finds out about itself: told as loud as can be, for it means an error in it.
#pragma once

#include "deploy/results/data_path.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace tna::daemon {

class Reporter;

/// For the log, and as docs/api.md has it.
[[nodiscard]] std::string disagreementSentence(const deploy::Disagreement& found,
                                               const model::Network& network);
[[nodiscard]] nlohmann::json disagreementDocument(const deploy::Disagreement& found,
                                                  const model::Network& network);

/// Follows up what the fast path finds when it decides packets twice.
class SelfCheck {
public:
    /// Whether it has paused a module since the last time, or believes one again; says so.
    [[nodiscard]] bool follow(const deploy::DataPath& dataPath, const model::Network& network,
                              Reporter& reporter);
    /// The operator wants all modules to go on.
    void trustAgain(const deploy::DataPath& dataPath);

private:
    std::vector<std::string> mistrusted_; ///< what has been said
};

} // namespace tna::daemon
