// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/measure/bisection.hpp"
#include "bench/measure/lane.hpp"

namespace tna::bench {

/// Offers frames at a rate, from one CPU, and waits for the last.
[[nodiscard]] Result<Trial> offer(Lane& lane, double rate, double seconds);

struct NoLossOptions {
    double loss = 0.1;    ///< per cent that may be lost
    double trial = 0.1;   ///< seconds of each trial
    double precision = 2; ///< per cent within which a rate is found
};

/// What is wrong with options, by the names that people give them; empty if nothing is.
[[nodiscard]] std::string problemWith(const NoLossOptions& options);

/// What a lane carries without losing more. It begins above what arrives at full offer.
[[nodiscard]] Result<NoLossRate> findNoLossRate(Lane& lane, const NoLossOptions& options);

} // namespace tna::bench
