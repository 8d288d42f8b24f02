// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "functions/workload/flows.hpp"

namespace tna::bench {

/// Puts the first connections into a map of the kernel's, each with its backend (bpf/work_shared.h).
[[nodiscard]] Result<void> fillFlows(int map, workload::Flow (*flowOf)(std::uint32_t), unsigned count);

} // namespace tna::bench
