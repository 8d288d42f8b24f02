// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace tna::bench {

/// When frames are due at a fixed rate. Reckoned from the start, so that nothing adds up, and that what was
/// held up is caught up with.
class Pacer {
public:
    /// In nanoseconds of any clock.
    Pacer(double framesPerSecond, std::uint64_t start) : gap_(1e9L / framesPerSecond), start_(start) {}

    [[nodiscard]] std::uint64_t due() const {
        return start_ + static_cast<std::uint64_t>(std::llround(static_cast<long double>(number_) * gap_));
    }
    void advance() { number_++; }

private:
    long double gap_;
    std::uint64_t start_;
    std::uint64_t number_ = 0;
};

/// Until `enough()`: hands each frame's time to `send` once `now` has come to it.
template <typename Now, typename Send, typename Enough>
void pace(Pacer& pacer, Now now, Send send, Enough enough) {
    while (!enough()) {
        const auto due = pacer.due();
        if (now() < due)
            continue;
        send(due);
        pacer.advance();
    }
}

} // namespace tna::bench
