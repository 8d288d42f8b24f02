// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace tna::bench {

/// Frames at one rate for a while.
struct Trial {
    double rate = 0;   ///< asked for, in frames per second
    double really = 0; ///< what the generator reached
    std::uint64_t sent = 0;
    std::uint64_t lost = 0;

    [[nodiscard]] double loss() const {
        return sent > 0 ? static_cast<double>(lost) / static_cast<double>(sent) : 1;
    }
    /// The generator cannot offer as much: the device under test throttles it, or it is slow itself.
    [[nodiscard]] bool throttled() const { return really < 0.95 * rate; }
};

/// How RFC 2544 is searched.
struct Search {
    double most = 0;          ///< frames per second to begin with
    double tolerance = 0.001; ///< the part of frames that may be lost
    double resolution = 0.02; ///< of the rate that is found
    unsigned attempts = 2;    ///< a rate is too high if all of these fail
};

struct NoLossRate {
    double rate = 0;        ///< the highest at which no more was lost; 0 if there is none
    bool throttled = false; ///< nothing was lost at the most that could be offered
    std::vector<Trial> trials;
};

/// The throughput of RFC 2544, section 26.1, by bisection.
[[nodiscard]] Result<NoLossRate> findNoLossRate(const Search& search,
                                                const std::function<Result<Trial>(double rate)>& attempt);

} // namespace tna::bench
