// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/station.hpp"
#include "netlink/attributes.hpp"

namespace tna::introspect {

/// RTM_NEWNEIGH or RTM_DELNEIGH of a bridge's forwarding database; nothing for other neighbours, and for the
/// address lists of devices.
[[nodiscard]] std::optional<model::StationChange> decodeStation(const netlink::Message& message);

} // namespace tna::introspect
