// SPDX-License-Identifier: Apache-2.0
#include "introspect/promiscuous.hpp"

#include "introspect/link_set.hpp"

#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::introspect {

std::optional<model::IfIndex> decodePromiscuous(const netlink::Message& message) {
    const auto header = message.header<ifinfomsg>();
    const auto attributes = message.attributes<ifinfomsg>();
    if (!header || !attributes || header->ifi_family != AF_UNSPEC || header->ifi_index <= 0)
        return std::nullopt;
    if (attributes->value<std::uint32_t>(IFLA_PROMISCUITY).value_or(0) == 0)
        return std::nullopt;
    return static_cast<model::IfIndex>(header->ifi_index);
}

Result<std::set<model::IfIndex>> readPromiscuousBridges() {
    const ifinfomsg header{};
    netlink::Request request(RTM_GETLINK, NLM_F_DUMP, header);
    request.put(IFLA_EXT_MASK, std::uint32_t{RTEXT_FILTER_SKIP_STATS});
    request.nest(IFLA_LINKINFO, [](auto& info) { info.put(IFLA_INFO_KIND, "bridge"); });
    return readLinkSet(request, decodePromiscuous);
}

} // namespace tna::introspect
