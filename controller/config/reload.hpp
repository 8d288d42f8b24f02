// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "config/config.hpp"

namespace tna::config {

/// A configuration that was read again while another one holds.
struct Reloaded {
    Config config; ///< what can change has changed
    /// Settings that are others there, and are taken in at the next start.
    std::vector<std::string> atNextStart;
};
[[nodiscard]] Reloaded reloaded(const Config& running, Config fresh);

} // namespace tna::config
