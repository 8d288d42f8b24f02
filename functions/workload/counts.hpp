// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <utility>

namespace tna::workload {

/// What has become of frames, for others to look at while they are treated: a file of four numbers of 64
/// bits, of frames that were received, sent, given back to Linux, and dropped.
class SharedCounts {
public:
    static constexpr std::size_t numbers = 4;
    using Counts = std::array<std::uint64_t, numbers>;

    /// Without a file it counts nothing.
    [[nodiscard]] static Result<SharedCounts> open(const std::string& file);
    SharedCounts(SharedCounts&& other) noexcept : shared_(std::exchange(other.shared_, nullptr)) {}
    SharedCounts& operator=(SharedCounts&&) = delete;
    ~SharedCounts();
    /// By any thread.
    void add(const Counts& counts) const;

private:
    explicit SharedCounts(std::uint64_t* shared) : shared_(shared) {}
    std::uint64_t* shared_;
};

} // namespace tna::workload
