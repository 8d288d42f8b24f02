// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/link.hpp"
#include "netlink/attributes.hpp"

namespace tna::introspect {

/// RTM_NEWLINK or RTM_DELLINK.
struct LinkMessage {
    bool removed = false;
    /// Family AF_BRIDGE: about a bridge port only. `link` then holds ifindex, master and bridgePort, and
    /// `removed` says that the link left its bridge, not that it is gone.
    bool bridgeFamily = false;
    model::Link link;
};

[[nodiscard]] std::optional<LinkMessage> decodeLink(const netlink::Message& message);

} // namespace tna::introspect
