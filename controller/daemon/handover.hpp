// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"

#include <vector>

namespace tna::daemon {

// From one process to the next, by systemd's file descriptor store: what is attached to devices, with a
// program that leaves all to Linux. systemd closes it, which detaches it, when the service is stopped.

/// What the process before this one has left, in this network namespace; systemd has nothing of it any more.
[[nodiscard]] std::vector<UniqueFd> takeHandedOver();

/// Leaves it to the next one; where there is no systemd, it is just closed.
void handOver(const std::vector<UniqueFd>& links);

} // namespace tna::daemon
