// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/profile.hpp"

namespace tna::assemble {

/// Without those that are 0.
[[nodiscard]] inline Parameters parametersOf(Parameters all) {
    std::erase_if(all, [](const auto& item) { return item.second == 0; });
    return all;
}

} // namespace tna::assemble
