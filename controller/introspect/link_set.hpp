// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/error.hpp"
#include "model/link.hpp"
#include "netlink/socket.hpp"

#include <linux/rtnetlink.h>
#include <optional>
#include <set>

namespace tna::introspect {

/// The links that `decode` names of the kernel's answer, in the calling thread's network namespace.
template <typename Decode>
Result<std::set<model::IfIndex>> readLinkSet(netlink::Request& request, Decode decode) {
    std::set<model::IfIndex> found;
    auto asked = netlink::ask(NETLINK_ROUTE, request, [&](const netlink::Message& message) {
        if (const std::optional<model::IfIndex> link = decode(message))
            found.insert(*link);
        return true;
    });
    if (!asked)
        return std::unexpected(asked.error());
    return found;
}

} // namespace tna::introspect
