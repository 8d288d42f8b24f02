// SPDX-License-Identifier: Apache-2.0
#include "bench/results/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace tna::bench {

namespace {
double quantile(const std::vector<double>& sorted, double part) {
    const double rank = part * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(std::floor(rank));
    const auto above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}
} // namespace

Summary summarise(std::vector<double> values) {
    if (values.empty())
        return {};
    std::ranges::sort(values);
    return {quantile(values, 0.5), quantile(values, 0.25), quantile(values, 0.75), values.front(),
            values.back()};
}

double quantileOf(std::vector<double> values, double part) {
    std::ranges::sort(values);
    return values.empty() ? 0 : quantile(values, part);
}

std::vector<double> ratios(const std::vector<double>& values, const std::vector<double>& base) {
    std::vector<double> result;
    for (std::size_t i = 0; i < std::min(values.size(), base.size()); i++)
        if (base[i] != 0)
            result.push_back(values[i] / base[i]);
    return result;
}

} // namespace tna::bench
