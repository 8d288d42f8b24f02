// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

namespace tna::diff {

/// What happens is random, and the same for the same seed, everywhere.
class Chance {
public:
    explicit Chance(std::uint64_t seed) : random_(seed), seed_(seed) {}
    /// Another one of the same seed, for one purpose (a number of its own): what is drawn there does not
    /// change what else happens.
    [[nodiscard]] Chance apart(std::uint64_t purpose) const {
        return Chance(seed_ * 0x9e3779b97f4a7c15U + purpose + 1);
    }
    [[nodiscard]] unsigned below(std::size_t limit) { return static_cast<unsigned>(random_() % limit); }
    [[nodiscard]] unsigned number() { return static_cast<unsigned>(random_()); }
    [[nodiscard]] std::uint8_t byte() { return static_cast<std::uint8_t>(random_()); }
    /// Once in so many times.
    [[nodiscard]] bool once(std::size_t in) { return below(in) == 0; }
    template <typename T>
    [[nodiscard]] T oneOf(std::initializer_list<T> choice) {
        return *(choice.begin() + below(choice.size()));
    }
    [[nodiscard]] std::string oneOf(std::initializer_list<const char*> choice) {
        return *(choice.begin() + below(choice.size()));
    }
    template <typename T>
    [[nodiscard]] const T& oneOf(const std::vector<T>& choice) {
        return choice[below(choice.size())];
    }

private:
    std::mt19937_64 random_;
    std::uint64_t seed_;
};

} // namespace tna::diff
