// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "assemble/surroundings.hpp"

namespace tna::assemble {

/// Where the guards cannot look into the kernel for every frame: what they would have found there, from what
/// has been read over netlink. `egress`: frames may leave by this port at all, of `shortest` bytes and more.
[[nodiscard]] WatchedPort watchPort(const Surroundings& around, const model::Link& link,
                                    const model::Link& bridge, bool egress, unsigned shortest);

} // namespace tna::assemble
