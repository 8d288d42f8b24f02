// SPDX-License-Identifier: Apache-2.0
#include "bench/results/histogram.hpp"

#include <cmath>
#include <functional>
#include <numeric>

#include "bench/bpf/shared.h"

namespace tna::bench {

Histogram::Histogram() : counts_(LATENCY_BUCKETS) {}

void Histogram::add(const Histogram& other) {
    for (std::size_t bucket = 0; bucket < counts_.size(); bucket++)
        counts_[bucket] += other.counts_[bucket];
}

std::uint64_t Histogram::total() const {
    return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

double Histogram::quantile(double part) const {
    const auto all = total();
    if (all == 0)
        return 0;
    const auto wanted = std::max(1.0, std::ceil(part * static_cast<double>(all)));
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < counts_.size(); bucket++) {
        seen += counts_[bucket];
        if (static_cast<double>(seen) >= wanted)
            return middleOfBucket(bucket);
    }
    return middleOfBucket(counts_.size() - 1);
}

double Histogram::mean() const {
    const auto all = total();
    double sum = 0;
    for (std::size_t bucket = 0; bucket < counts_.size(); bucket++)
        sum += middleOfBucket(bucket) * static_cast<double>(counts_[bucket]);
    return all == 0 ? 0 : sum / static_cast<double>(all);
}

std::vector<std::pair<double, std::uint64_t>> Histogram::entries() const {
    std::vector<std::pair<double, std::uint64_t>> list;
    for (std::size_t bucket = 0; bucket < counts_.size(); bucket++)
        if (counts_[bucket] != 0)
            list.emplace_back(middleOfBucket(bucket), counts_[bucket]);
    return list;
}

std::size_t bucketOf(std::uint64_t nanoseconds) {
    return latency_bucket(nanoseconds);
}

/// Buckets below LATENCY_STEPS are a nanosecond each; from there on each power of two has LATENCY_STEPS.
double middleOfBucket(std::size_t bucket) {
    if (bucket < 2UL * LATENCY_STEPS)
        return static_cast<double>(bucket);
    const std::size_t shift = bucket / LATENCY_STEPS - 1;
    const double width = std::ldexp(1.0, static_cast<int>(shift));
    return static_cast<double>(bucket - shift * LATENCY_STEPS) * width + (width - 1) / 2;
}

} // namespace tna::bench
