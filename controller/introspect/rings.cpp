// SPDX-License-Identifier: Apache-2.0
#include "introspect/rings.hpp"

#include "introspect/link_set.hpp"

#include <linux/if_bridge.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::introspect {

std::optional<model::IfIndex> decodeRing(const netlink::Message& message) {
    const auto header = message.header<ifinfomsg>();
    const auto attributes = message.attributes<ifinfomsg>();
    if (!header || !attributes || header->ifi_family != AF_BRIDGE || header->ifi_index <= 0)
        return std::nullopt;
    const auto specific = attributes->nested(IFLA_AF_SPEC);
    if (!specific || !specific->has(IFLA_BRIDGE_MRP))
        return std::nullopt;
    return static_cast<model::IfIndex>(header->ifi_index);
}

Result<std::set<model::IfIndex>> readRings() {
    ifinfomsg header{};
    header.ifi_family = AF_BRIDGE;
    netlink::Request request(RTM_GETLINK, NLM_F_DUMP, header);
    request.put(IFLA_EXT_MASK, std::uint32_t{RTEXT_FILTER_MRP});
    return readLinkSet(request, decodeRing);
}

} // namespace tna::introspect
