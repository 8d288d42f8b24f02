// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <string>

namespace tna::deploy {

/// What an object may be at most.
constexpr std::size_t largestModule = std::size_t{1} << 20U;

/// Whether bytes are an object for BPF whose parts lie within it.
[[nodiscard]] Result<void> checkElf(const std::string& object);

/// Whether libbpf survives reading it: done by a process of its own, which may crash or take too long.
[[nodiscard]] Result<void> tryToOpen(const std::string& object);

} // namespace tna::deploy
