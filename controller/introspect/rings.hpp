// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/link.hpp"
#include "netlink/attributes.hpp"

#include <optional>
#include <set>

namespace tna::introspect {

/// A bridge of the kernel's list (RTM_NEWLINK of AF_BRIDGE, asked for with RTEXT_FILTER_MRP) that is part of
/// a redundancy ring (MRP); nothing for all others, and for ports.
[[nodiscard]] std::optional<model::IfIndex> decodeRing(const netlink::Message& message);

/// Bridges that are part of rings, in the calling thread's network namespace. Neither a ring nor what state
/// it gives to ports is announced.
[[nodiscard]] Result<std::set<model::IfIndex>> readRings();

} // namespace tna::introspect
