// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

namespace tna::bench {

/// The order of `count` contenders in a round: each comes first, in the middle and last, after and before
/// others.
[[nodiscard]] std::vector<std::size_t> turnsOfRound(std::size_t count, unsigned round);

} // namespace tna::bench
