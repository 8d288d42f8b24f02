// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "balancer.hpp"
#include "base/unique_fd.hpp"
#include "health.hpp"

#include <chrono>
#include <string>

namespace tna::balancer {

/// Connects to backends again and again, and asks them by HTTP, without ever waiting.
class Checks {
public:
    using Time = std::chrono::steady_clock::time_point;
    struct Change {
        std::size_t service = 0;
        std::size_t backend = 0;
        bool up = true;
        std::string why; ///< it is not
    };

    Checks() = default;
    /// The first ones are spread over an interval.
    Checks(const std::vector<Service>& services, Time now);

    /// What is otherwise now.
    [[nodiscard]] std::vector<Change> step(Time now);
    /// When there may be something to do, as far as time decides; that of the past is now.
    [[nodiscard]] Time next() const { return next_; }

private:
    struct Check {
        std::size_t service = 0;
        std::size_t backend = 0;
        Endpoint target;
        CheckSettings settings;
        Health health;
        Time begins; ///< the next one
        Time ends{}; ///< the present one
        UniqueFd fd;
        bool asked = false; ///< by HTTP
        std::string answer{};
    };
    /// What is against the backend, "" if nothing is. None: it goes on.
    using Result = std::optional<std::string>;
    [[nodiscard]] static Result begin(Check& check, Time now);
    [[nodiscard]] static Result goOn(Check& check, short events, Time now);
    [[nodiscard]] static Result connected(Check& check);
    [[nodiscard]] static Result answered(Check& check);
    void report(Check& check, const std::string& against, std::vector<Change>& changes);

    std::vector<Check> checks_;
    Time next_ = Time::max();
};

} // namespace tna::balancer
