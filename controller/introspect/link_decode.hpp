// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/attributes.hpp"
#include "model/link.hpp"

namespace tna::introspect {

/// RTM_NEWLINK or RTM_DELLINK of AF_UNSPEC: everything but what needs another question (driver,
/// offloads, VLANs, filters), which is left at its default.
[[nodiscard]] std::optional<model::Link> decodeLink(const Message& message);

/// The index in any link message, 0 if there is none.
[[nodiscard]] model::IfIndex linkIndex(const Message& message);

/// AF_BRIDGE link message: the VLANs of a port or of the bridge itself.
struct LinkVlans {
    model::IfIndex ifindex = 0;
    std::vector<model::BridgeVlan> vlans;
};
[[nodiscard]] std::optional<LinkVlans> decodeVlans(const Message& message);

} // namespace tna::introspect
