// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/connections.hpp"
#include "daemon/rules_in_place.hpp"
#include "model/rule_set.hpp"

#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

namespace tna::daemon {

/// Reads the rule sets when somebody asks, and says what could be accelerated with them. It takes as long as
/// the kernel needs to list them, so it has a lock of its own, and the network is not kept waiting.
class RuleQuestion {
public:
    /// In the network namespace of the calling thread. Whoever asks while the rules are read for somebody
    /// else gets an answer that was read after they asked: a hundred who ask at a time cost two readings.
    /// `own` are programs of ours that netfilter calls.
    [[nodiscard]] nlohmann::json answer(const std::set<std::string>& legacyTables,
                                        const std::set<std::uint32_t>& own);

private:
    using Clock = std::chrono::steady_clock;
    std::mutex mutex_;
    Clock::time_point begun_ = Clock::time_point::min(); ///< reading what was answered last
    nlohmann::json last_;
    RulesInPlaceReader inPlace_;
};

/// Adds to a port's document what is in the way of flows besides rules, if packets are Linux's because of
/// netfilter: other functions that it calls, in the network namespace of the calling thread.
void addFunctionsInTheWay(nlohmann::json& port, const std::set<std::uint32_t>& own);

/// The same where the kernel shows no addresses of its functions, so that none of them is recognised.
void addHiddenFunctions(nlohmann::json& port);

/// The same of what connections have of their own, if nothing is known of flows.
void addConnectionsInTheWay(nlohmann::json& port);

/// Whether connections are learnt, and of which rules; null where they are not to be.
[[nodiscard]] nlohmann::json viewLearning(const Connections& connections, unsigned wanted);
/// The document, see docs/api.md.
[[nodiscard]] nlohmann::json viewRules(const model::RuleSet& set);

} // namespace tna::daemon
