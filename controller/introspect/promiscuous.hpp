// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/link.hpp"
#include "netlink/attributes.hpp"

#include <optional>
#include <set>

namespace tna::introspect {

/// A link of the kernel's list (RTM_NEWLINK) that wants all frames; nothing for all others.
[[nodiscard]] std::optional<model::IfIndex> decodePromiscuous(const netlink::Message& message);

/// Bridges that want all frames, in the calling thread's network namespace. Where a device on a bridge has an
/// address of its own, as macvlans for VRRP do, the bridge begins to want them when that device comes up,
/// which is not announced (__dev_set_rx_mode()).
[[nodiscard]] Result<std::set<model::IfIndex>> readPromiscuousBridges();

} // namespace tna::introspect
