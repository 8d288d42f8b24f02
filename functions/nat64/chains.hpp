// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tna::nat64 {

inline constexpr std::uint32_t nobody = UINT32_MAX;

/// All numbers below a bound, the first one at the end.
[[nodiscard]] inline std::vector<std::uint32_t> allFree(std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.rbegin(), numbers.rend(), 0U);
    return numbers;
}

/// Lists of numbers below a bound that is known from the beginning; a number is in one of them at most.
class Lists {
public:
    Lists(std::size_t lists, std::size_t numbers)
        : first_(lists, nobody), last_(lists, nobody), next_(numbers, nobody), previous_(numbers, nobody) {}

    [[nodiscard]] std::uint32_t first(std::size_t list) const { return first_[list]; }
    [[nodiscard]] std::uint32_t next(std::uint32_t number) const { return next_[number]; }

    void append(std::size_t list, std::uint32_t number) {
        const auto last = last_[list];
        previous_[number] = last;
        next_[number] = nobody;
        (last == nobody ? first_[list] : next_[last]) = number;
        last_[list] = number;
    }
    void remove(std::size_t list, std::uint32_t number) {
        const auto previous = previous_[number], next = next_[number];
        (previous == nobody ? first_[list] : next_[previous]) = next;
        (next == nobody ? last_[list] : previous_[next]) = previous;
    }

private:
    std::vector<std::uint32_t> first_, last_, next_, previous_;
};

/// The same, the list chosen by a hash.
class Chains {
public:
    explicit Chains(std::size_t numbers)
        : mask_(std::bit_ceil(numbers) - 1), lists_(std::bit_ceil(numbers), numbers) {}

    /// The first number of the hash's list that `is` says yes to.
    template <typename Is>
    [[nodiscard]] std::uint32_t find(std::uint64_t hash, Is is) const {
        auto number = lists_.first(hash & mask_);
        while (number != nobody && !is(number))
            number = lists_.next(number);
        return number;
    }
    void insert(std::uint64_t hash, std::uint32_t number) { lists_.append(hash & mask_, number); }
    void remove(std::uint64_t hash, std::uint32_t number) { lists_.remove(hash & mask_, number); }

private:
    std::uint64_t mask_;
    Lists lists_;
};

/// Mixes bits so that who does not know the seed cannot choose where things are.
class Hash {
public:
    explicit Hash(std::uint64_t seed) : state_(seed) {}
    Hash& add(std::uint64_t value) {
        state_ = (std::rotl(state_, 29) ^ value) * 0x9e3779b97f4a7c15U;
        state_ ^= state_ >> 32U;
        return *this;
    }
    [[nodiscard]] std::uint64_t value() const {
        auto mixed = state_ * 0xd6e8feb86659fd93U;
        return mixed ^ mixed >> 32U;
    }

private:
    std::uint64_t state_;
};

} // namespace tna::nat64
