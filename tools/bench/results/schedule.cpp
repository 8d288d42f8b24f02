// SPDX-License-Identifier: Apache-2.0
#include "bench/results/schedule.hpp"

#include <cmath>
#include <fmt/format.h>

namespace tna::bench {

std::string durationText(double seconds) {
    constexpr double minute = 60;
    constexpr double hour = 3600;
    if (seconds < 2 * minute)
        return fmt::format("{:.0f} s", std::ceil(seconds));
    const auto minutes = static_cast<unsigned>(std::ceil(seconds / minute));
    return seconds < hour ? fmt::format("{} min", minutes)
                          : fmt::format("{} h {} min", minutes / 60, minutes % 60);
}

void TimeLeft::done(double planned, bool before) {
    left_ -= planned;
    if (!before)
        done_ += planned;
}

double TimeLeft::seconds() const {
    if (done_ <= 0)
        return left_;
    const auto spent = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    return left_ * spent / done_;
}

} // namespace tna::bench
