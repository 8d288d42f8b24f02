// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "health.hpp"
#include "services.hpp"

#include <chrono>
#include <string>
#include <utility>

namespace tna::balancer {

/// Connects to backends again and again, and asks them by HTTP, without ever waiting. Only some at a time,
/// in turn, where there are more than may be open files.
class Checks {
public:
    using Time = std::chrono::steady_clock::time_point;
    struct Change {
        std::size_t service = 0;
        std::size_t backend = 0;
        bool up = true;
        std::string why; ///< it is not
    };

    Checks(const std::vector<Service>& services, Time now) { follow(services, now); }

    /// Services and backends are others now: what is checked as before goes on as before. The first checks of
    /// the others are spread over an interval.
    void follow(const std::vector<Service>& services, Time now);

    /// What is otherwise now.
    [[nodiscard]] std::vector<Change> step(Time now);
    /// What has kept it from checking, told once a minute; "" else.
    [[nodiscard]] std::string obstacle() { return std::exchange(obstacle_, {}); }
    /// When there may be something to do, as far as time decides; that of the past is now.
    [[nodiscard]] Time next() const { return next_; }

private:
    struct Check {
        std::size_t service = 0;
        std::size_t backend = 0;
        Place place; ///< of the service
        Endpoint endpoint;
        CheckSettings settings;
        Health health;
        Time begins; ///< the next one
        Time ends{}; ///< the present one
        UniqueFd fd{};
        bool asked = false; ///< by HTTP
        std::string answer{};
    };
    /// What is against the backend, "" if nothing is. None: it goes on.
    using Result = std::optional<std::string>;
    [[nodiscard]] std::vector<short> eventsOfRunning(Time now);
    void goOnWithRunning(std::vector<Change>& changes, Time now);
    void beginSome(std::vector<Change>& changes, Time now);
    [[nodiscard]] Result begin(Check& check, Time now);
    [[nodiscard]] static Result goOn(Check& check, short events, Time now);
    [[nodiscard]] static Result connected(Check& check);
    [[nodiscard]] static Result answered(Check& check);
    void report(Check& check, const std::string& against, std::vector<Change>& changes);

    /// Of a call to the kernel that has failed.
    void note(int error, Time now);

    std::vector<Check> checks_;
    std::vector<std::size_t> running_;
    std::size_t turn_ = 0; ///< that is looked at first, whether it is to begin
    Time next_ = Time::max();
    std::string obstacle_;
    std::optional<Time> told_; ///< when for the last time
};

} // namespace tna::balancer
