// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/lane.hpp"
#include "bench/measure/progress.hpp"

namespace tna::bench {

/// A contender that is ready, or the reason why it is not.
struct Entrant {
    std::string name;
    std::unique_ptr<Lane> lane;
    std::string notMeasured;
    Tcp tcp = Tcp::notTried;
    unsigned cores = 0; ///< processors that it has for itself, beside the generator's

    /// From now on it has the reason instead.
    void withdraw(const Error& reason) {
        notMeasured = reason.sentence();
        lane.reset();
    }
};

/// What is not as usual about its traffic.
[[nodiscard]] std::vector<std::string> remarksOf(const Entrant& entrant);

/// Makes all ready at the same time. Fails if one does not start that a machine cannot lack; stops early if
/// interrupted. `announce` is told each name before.
[[nodiscard]] Result<std::vector<Entrant>> lineUp(const std::vector<std::string>& names,
                                                  const std::string& tnad, const Setup& setup,
                                                  const Watcher& watcher,
                                                  const std::function<void(const std::string&)>& announce);

} // namespace tna::bench
