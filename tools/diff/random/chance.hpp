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
    explicit Chance(std::uint64_t seed) : random_(seed) {}
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
};

} // namespace tna::diff
