// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace tna::bench {

/// The middle of a set of measurements, and how far they spread.
struct Summary {
    double median = 0;
    double lowerQuartile = 0;
    double upperQuartile = 0;
    double least = 0;
    double most = 0;
};

/// Quantiles by linear interpolation between the closest ranks; all 0 for no values.
[[nodiscard]] Summary summarise(std::vector<double> values);

/// A quantile, e.g. 0.99, the same way.
[[nodiscard]] double quantileOf(std::vector<double> values, double part);

/// values[i] / base[i], for as many as both have; a base of 0 is left out.
[[nodiscard]] std::vector<double> ratios(const std::vector<double>& values, const std::vector<double>& base);

} // namespace tna::bench
