// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/rules/flows.hpp"
#include "daemon/kernel.hpp"

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace tna::daemon {

/// Reads the rule sets whenever somebody says that they have changed, and judges them. That may take long, so
/// it has a thread of its own, and the network is not kept waiting.
class RuleWatch {
public:
    /// The kernel must outlive it. In the network namespace of the calling thread.
    explicit RuleWatch(Kernel& kernel);
    ~RuleWatch();
    RuleWatch(const RuleWatch&) = delete;
    RuleWatch& operator=(const RuleWatch&) = delete;

    /// The rules have changed, or may have.
    struct Question {
        std::set<std::string> legacyTables;
        std::set<std::uint32_t> own; ///< programs that learn
        assemble::SpecialDevices devices;
        /// Is called with the answer, in the watch's own thread.
        std::function<void(const assemble::RuleJudgement&)> publish;
    };
    void ask(Question question);
    /// From when this returns, nothing is called that was to be.
    void forget();
    /// The last judgement, if it is new.
    [[nodiscard]] std::optional<assemble::RuleJudgement> take();

private:
    void run(const std::stop_token& stop);
    [[nodiscard]] assemble::RuleJudgement judge(const Question& question);

    Kernel& kernel_;
    std::mutex mutex_;
    std::condition_variable_any asked_;
    std::optional<Question> question_;
    std::function<void(const assemble::RuleJudgement&)> publish_;
    std::optional<assemble::RuleJudgement> answer_;
    std::jthread thread_; ///< goes first
};

} // namespace tna::daemon
