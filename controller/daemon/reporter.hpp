// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/followers.hpp"
#include "daemon/reconcile_step.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace tna::daemon {

/// What happened since the start, for people and tests.
struct Events {
    std::uint64_t swaps = 0;
    std::int64_t lastSwapMicroseconds = 0; ///< from the notification to the program in place
    std::int64_t lastSwapAt = 0;           ///< then, in nanoseconds of CLOCK_MONOTONIC
    std::uint64_t failures = 0;
    std::uint64_t selfChecksFailed = 0;
};

/// Tells what happens: in the log, to those who follow events, and in numbers.
class Reporter {
public:
    /// Profiles were put in place or taken away, for a reason that was noticed at `since`.
    void swapped(unsigned profiles, std::chrono::steady_clock::time_point since);
    /// Another plan is in place.
    void changed(const InPlace& before, const InPlace& now);
    /// The self-check has found something.
    void selfCheckFailed(const deploy::Disagreement& found, const model::Network& network);
    /// A driver has refused frames that were redirected to its port.
    void redirectsRefused(const std::string& port, const deploy::Refusal& refusal,
                          const assemble::Reason& reason);
    /// Another fast path is in place; how it finds stations is one of the words of fdbWay().
    void fastPathExchanged(const std::string& why, const char* fdbWay);
    /// With settings that hold only from the next start on.
    void configurationRead(const std::vector<std::string>& atNextStart);
    void configurationRefused(const Error& error);
    /// By the operator; all ports, if none is named.
    void paused(const std::optional<std::string>& port, bool paused);
    /// "inserted", "replaced", "removed"
    void moduleChanged(const std::string& name, const char* action);
    /// In the directory that they are kept in.
    void moduleRefused(const std::string& name, const Error& error);
    /// Of a network function: "added", "replaced", "removed", "bypassed", "resumed"
    void functionChanged(const std::string& name, const char* action);

    void follow(const std::shared_ptr<api::LineSink>& lines) { followers_.add(lines); }
    [[nodiscard]] const Events& events() const { return events_; }

private:
    void warnOf(const Failures& failures, const assemble::Plan& plan);
    void tellPorts(const InPlace& before, const InPlace& now);

    Followers followers_;
    Events events_;
};

} // namespace tna::daemon
