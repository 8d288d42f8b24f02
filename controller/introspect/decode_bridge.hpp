// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/link.hpp"
#include "netlink/attributes.hpp"

#include <vector>

namespace tna::introspect {

/// IFLA_BR_*, as in the IFLA_INFO_DATA of a bridge.
[[nodiscard]] model::BridgeOptions decodeBridgeOptions(const netlink::Attributes& data);

/// IFLA_BRPORT_*, as in IFLA_INFO_SLAVE_DATA, and in the IFLA_PROTINFO of AF_BRIDGE messages.
[[nodiscard]] model::BridgePort decodeBridgePort(const netlink::Attributes& data);

/// RTM_NEWVLAN: VLANs of one bridge or port, ranges expanded.
struct VlanMessage {
    model::IfIndex ifindex = 0;
    std::vector<model::BridgeVlan> vlans;
};
[[nodiscard]] std::optional<VlanMessage> decodeVlans(const netlink::Message& message);

} // namespace tna::introspect
