// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace tna::balancer {

/// What a table chooses among.
struct Choice {
    std::uint16_t number = 0; ///< what the table says
    std::uint64_t hash = 0;   ///< of its name: where it stands among the others does not matter
    unsigned weight = 1;
};

/// Consistent hashing as in "Maglev: A Fast and Reliable Software Network Load Balancer" (NSDI 2016): each
/// choice takes the places of the table in an order of its own, one after the other. When one choice goes,
/// few places that are not its own change.
class Maglev {
public:
    /// `size` is a prime number, so that each order has every place. Choices of weight 0 get none.
    Maglev() = default;
    Maglev(const std::vector<Choice>& choices, std::size_t size);

    [[nodiscard]] bool empty() const { return places_.empty(); }
    [[nodiscard]] std::uint16_t at(std::uint64_t hash) const { return places_[hash % places_.size()]; }
    [[nodiscard]] const std::vector<std::uint16_t>& places() const { return places_; }

private:
    std::vector<std::uint16_t> places_;
};

[[nodiscard]] bool isPrime(std::uint64_t number);

} // namespace tna::balancer
