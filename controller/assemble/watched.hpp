// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/surroundings.hpp"

namespace tna::assemble {

/// Whether a link may hand over frames that their sender, on the same machine, has not finished.
[[nodiscard]] bool sendersMayLeaveWork(const model::Link& link);

/// Where the guards cannot look into the kernel for every frame: what they would have found there, from what
/// has been read over netlink. `egress`: frames may leave by this port at all.
[[nodiscard]] WatchedPort watchPort(const Surroundings& around, const model::Link& link,
                                    const model::Link& bridge, bool egress);

} // namespace tna::assemble
