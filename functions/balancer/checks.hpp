// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "balancer.hpp"
#include "base/unique_fd.hpp"
#include "health.hpp"

#include <chrono>
#include <string>

namespace tna::balancer {

/// Connects to backends again and again, without ever waiting.
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
    };
    /// Nothing: it goes on.
    [[nodiscard]] static std::optional<int> begin(Check& check, Time now);
    [[nodiscard]] static std::optional<int> resultOf(const Check& check, short events, Time now);
    void report(Check& check, int error, std::vector<Change>& changes);

    std::vector<Check> checks_;
    Time next_ = Time::max();
};

} // namespace tna::balancer
