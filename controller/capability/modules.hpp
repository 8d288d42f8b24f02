// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tna::capability {

/// Of the kernel modules whose types and functions the fast path looks at, those that are there (or built
/// in), by name. A module that was loaded again has another number.
[[nodiscard]] std::map<std::string, std::uint64_t> loadedModules();

} // namespace tna::capability
