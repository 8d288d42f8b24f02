// SPDX-License-Identifier: Apache-2.0
#include "maglev.hpp"

#include <algorithm>

namespace tna::balancer {

namespace {
/// The places in the order of one choice.
struct Turn {
    Choice choice;
    std::uint64_t offset;
    std::uint64_t skip;
    std::uint64_t next = 0;
    std::uint64_t credit = 0; ///< from `heaviest` on, it has a place to take

    std::uint64_t place(std::uint64_t size) {
        const auto at = (offset + next * skip) % size;
        next++;
        return at;
    }
};
} // namespace

Maglev::Maglev(const std::vector<Choice>& choices, std::size_t size) {
    std::vector<Turn> turns;
    unsigned heaviest = 0;
    for (const auto& choice : choices) {
        if (choice.weight == 0)
            continue;
        // Two hashes that have nothing to do with each other, of one.
        const auto other = (choice.hash ^ choice.hash >> 32U) * 0x9e3779b97f4a7c15U;
        turns.push_back({choice, choice.hash % size, (other >> 20U) % (size - 1) + 1});
        heaviest = std::max(heaviest, choice.weight);
    }
    if (turns.empty())
        return;
    // Who is first in a round is the same wherever it stands in the configuration.
    std::ranges::sort(turns, {}, [](const Turn& turn) { return turn.choice.hash; });
    constexpr std::uint16_t nobody = 0xffff;
    places_.assign(size, nobody);
    for (std::size_t filled = 0; filled < size;) {
        for (auto& turn : turns) {
            turn.credit += turn.choice.weight;
            if (turn.credit < heaviest || filled == size)
                continue;
            turn.credit -= heaviest;
            auto at = turn.place(size);
            while (places_[at] != nobody)
                at = turn.place(size);
            places_[at] = turn.choice.number;
            filled++;
        }
    }
}

bool isPrime(std::uint64_t number) {
    for (std::uint64_t divisor = 2; divisor * divisor <= number; divisor++)
        if (number % divisor == 0)
            return false;
    return number > 1;
}

} // namespace tna::balancer
