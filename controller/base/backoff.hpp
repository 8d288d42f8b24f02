// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>

namespace tna {

/// When what failed is tried again: soon at first, then ever more rarely.
class Backoff {
public:
    using Time = std::chrono::steady_clock::time_point;

    /// The longest rest.
    explicit Backoff(std::chrono::seconds most = std::chrono::seconds(64)) : most_(most) {}
    /// Nothing has failed so far.
    void reset(Time now) {
        rest_ = std::chrono::seconds(1);
        due_ = now + rest_;
    }
    /// Whether to try now; if so, the rest until the next time begins.
    [[nodiscard]] bool isDue(Time now) {
        if (now < due_)
            return false;
        rest_ = std::min(2 * rest_, most_);
        due_ = now + rest_;
        return true;
    }

private:
    Time due_;
    std::chrono::seconds rest_{1};
    std::chrono::seconds most_;
};

} // namespace tna
