// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/network.hpp"
#include "netlink/attributes.hpp"

namespace tna::introspect {

/// 4, 6, or 0 for a family that the model does not have.
[[nodiscard]] std::uint8_t ipFamily(unsigned char family);

/// RTM_NEWADDR or RTM_DELADDR.
struct AddressMessage {
    bool removed = false;
    model::IfIndex ifindex = 0;
    model::Address address;
};
[[nodiscard]] std::optional<AddressMessage> decodeAddress(const netlink::Message& message);

/// RTM_NEWRULE.
[[nodiscard]] std::optional<model::Rule> decodeRule(const netlink::Message& message);

/// RTM_NEWROUTE, as far as it is counted.
struct RouteMessage {
    std::uint8_t family = 0;
    std::uint32_t table = 0;
    const char* type = "";
};
[[nodiscard]] std::optional<RouteMessage> decodeRoute(const netlink::Message& message);

/// RTM_NEWNETCONF or RTM_DELNETCONF: an announcement carries only what changed.
struct NetconfMessage {
    bool removed = false;
    std::uint8_t family = 0;
    std::int32_t ifindex = 0; ///< NETCONFA_IFINDEX_ALL, NETCONFA_IFINDEX_DEFAULT or a link
    std::optional<std::int32_t> forwarding;
    std::optional<std::int32_t> reversePathFilter;
    std::optional<std::int32_t> ignoreRoutesWithLinkDown;
};
[[nodiscard]] std::optional<NetconfMessage> decodeNetconf(const netlink::Message& message);

/// RTM_NEWNEIGH, of a bridge's forwarding database or of IP.
struct NeighbourMessage {
    unsigned char family = 0;
    model::IfIndex ifindex = 0;
    model::IfIndex master = 0; ///< 0 where it is no entry of a bridge
    std::uint16_t state = 0;   ///< NUD_*
};
[[nodiscard]] std::optional<NeighbourMessage> decodeNeighbour(const netlink::Message& message);

} // namespace tna::introspect
