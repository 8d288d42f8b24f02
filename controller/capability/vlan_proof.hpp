// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capability/fdb_proof.hpp"

namespace tna::capability {

/// Compares what reading in place finds of ports' VLANs with what netlink said: each port's PVID, each VLAN's
/// flags and state, and that there is no other.
[[nodiscard]] Finding proveInPlaceVlans(InPlaceReader& reader, const model::Network& network);

} // namespace tna::capability
