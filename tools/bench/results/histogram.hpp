// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tna::bench {

/// The bucket of a time in nanoseconds.
[[nodiscard]] std::size_t bucketOf(std::uint64_t nanoseconds);

/// How often which time was measured, as the sink counts it: in buckets within 3 %.
class Histogram {
public:
    Histogram();
    void add(std::size_t bucket, std::uint64_t count) { counts_.at(bucket) += count; }
    void add(const Histogram& other);

    [[nodiscard]] std::uint64_t total() const;
    /// The time that a part of all do not exceed, e.g. 0.99, in nanoseconds; 0 if there are none.
    [[nodiscard]] double quantile(double part) const;
    [[nodiscard]] double mean() const;
    [[nodiscard]] double largest() const { return quantile(1); }
    /// Times in nanoseconds and how often each was measured, in order, without those that never were.
    [[nodiscard]] std::vector<std::pair<double, std::uint64_t>> entries() const;

private:
    std::vector<std::uint64_t> counts_;
};

/// The middle of the times in a bucket.
[[nodiscard]] double middleOfBucket(std::size_t bucket);

} // namespace tna::bench
