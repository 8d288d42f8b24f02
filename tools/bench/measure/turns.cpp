// SPDX-License-Identifier: Apache-2.0
#include "bench/measure/turns.hpp"

#include <algorithm>
#include <numeric>

namespace tna::bench {

std::vector<std::size_t> turnsOfRound(std::size_t count, unsigned round) {
    std::vector<std::size_t> turns(count);
    std::iota(turns.begin(), turns.end(), std::size_t{0});
    if (count == 0)
        return turns;
    std::ranges::rotate(turns, turns.begin() + static_cast<std::ptrdiff_t>(round / 2 % count));
    if (round % 2 == 1)
        std::ranges::reverse(turns);
    return turns;
}

} // namespace tna::bench
