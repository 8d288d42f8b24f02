// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/rule_changes.hpp"

#include "bench/testbed/rules.hpp"

#include <chrono>

namespace tna::bench {

// A new thread is in the namespace of the one that starts it.
RuleChanges::RuleChanges(const Setup& setup) {
    if (setup.ruleChanges != 0)
        thread_ = std::thread([this, setup] { run(setup); });
}

RuleChanges::~RuleChanges() {
    [[maybe_unused]] const auto stopped = stop();
}

void RuleChanges::run(const Setup& setup) {
    constexpr auto longestNap = std::chrono::milliseconds(5);
    const std::chrono::duration<double> period{1.0 / setup.ruleChanges};
    const auto start = std::chrono::steady_clock::now();
    for (unsigned number = 0; !stop_ && outcome_;) {
        if (std::chrono::steady_clock::now() < start + (number + 0.5) * period) {
            std::this_thread::sleep_for(longestNap);
            continue;
        }
        outcome_ = loadRules(ruleChange(setup, number++));
        done_ += outcome_ ? 1 : 0;
    }
}

Result<unsigned> RuleChanges::stop() {
    stop_ = true;
    if (thread_.joinable())
        thread_.join();
    if (!outcome_)
        return std::unexpected(outcome_.error());
    return done_;
}

} // namespace tna::bench
