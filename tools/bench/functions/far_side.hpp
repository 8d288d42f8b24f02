// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "bench/tenants/offer.hpp"

#include <memory>

struct swap;

namespace tna::bench {

/// Frames of all sizes of this study.
constexpr unsigned swappedSize = 64;

/// The same frame, sent back to where it came from.
[[nodiscard]] std::vector<unsigned char> swapped(std::vector<unsigned char> frame);

/// Where frames are offered and come back to: the generator's device counts what a machine under test has
/// sent back, and compares each with what it has to be.
class FarSide {
public:
    [[nodiscard]] static Result<std::unique_ptr<FarSide>> make();
    FarSide(const FarSide&) = delete;
    FarSide& operator=(const FarSide&) = delete;
    ~FarSide();

    [[nodiscard]] const DropPlace& place() const { return *place_; }
    [[nodiscard]] std::uint64_t returned() const { return counted(0); }
    /// Frames that are not as they have to be.
    [[nodiscard]] std::uint64_t wrong() const { return counted(1); }
    [[nodiscard]] std::uint64_t offered() const { return counted(2); }
    /// Offers frames.
    [[nodiscard]] int giveProgram() const;
    /// Does by XDP_TX what functions do.
    [[nodiscard]] int swapProgram() const;

private:
    explicit FarSide(std::unique_ptr<DropPlace> place) : place_(std::move(place)) {}
    [[nodiscard]] Result<void> load();
    [[nodiscard]] std::uint64_t counted(unsigned which) const;
    std::unique_ptr<DropPlace> place_;
    ::swap* programs_ = nullptr;
    UniqueFd link_;
};

} // namespace tna::bench
