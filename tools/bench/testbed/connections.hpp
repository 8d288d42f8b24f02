// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>

namespace tna::bench {

// Connection tracking of the calling thread's network namespace.

/// Whether there is room for as many connections; the error says what to do.
[[nodiscard]] Result<void> roomForConnections(std::uint64_t count);
[[nodiscard]] Result<std::uint64_t> countConnections();
/// All of them.
[[nodiscard]] Result<void> forgetConnections();

} // namespace tna::bench
