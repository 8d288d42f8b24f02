// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>

namespace tna::capability {

/// The names of the kernel's functions at these addresses (/proc/kallsyms); those without one are not in it.
[[nodiscard]] Result<std::map<std::uint64_t, std::string>>
symbolsAt(const std::set<std::uint64_t>& addresses);

} // namespace tna::capability
