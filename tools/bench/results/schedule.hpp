// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>

namespace tna::bench {

/// Seconds in words: "40 s", "5 min", "2 h 10 min".
[[nodiscard]] std::string durationText(double seconds);

/// How long the rest of a plan takes, as long as what is done of it took in relation to what was planned.
class TimeLeft {
public:
    explicit TimeLeft(double planned) : left_(planned) {}
    /// Something that was planned to take so long is done, or was done before.
    void done(double planned, bool before);
    [[nodiscard]] double seconds() const;

private:
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    double left_;
    double done_ = 0;
};

} // namespace tna::bench
