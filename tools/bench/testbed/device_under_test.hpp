// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "bench/testbed/scenario.hpp"

namespace tna::bench {

/// Sets up Linux in the namespace of a name to forward from d0 to d1; their far ends are there and up.
[[nodiscard]] Result<void> setUpForwarding(const std::string& name, const Setup& setup);

} // namespace tna::bench
