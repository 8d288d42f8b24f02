// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/case.hpp"
#include "diff/random/chance.hpp"
#include "diff/random/topology.hpp"

namespace tna::diff {

/// Times that change while flows go on, with so much room around them that what is in use is in use in both
/// worlds, and what is not, in neither.
[[nodiscard]] std::vector<Step> times(Chance& chance, const Topology& topology);

} // namespace tna::diff
