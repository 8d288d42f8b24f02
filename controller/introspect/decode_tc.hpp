// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/network.hpp"
#include "netlink/attributes.hpp"

namespace tna::introspect {

/// RTM_NEWQDISC.
[[nodiscard]] std::optional<model::Qdisc> decodeQdisc(const netlink::Message& message);

/// RTM_NEWTFILTER or RTM_DELTFILTER.
struct FilterMessage {
    std::int32_t ifindex = 0; ///< TCM_IFINDEX_MAGIC_BLOCK for a block that several links share
    std::uint32_t handle = 0; ///< 0: not a filter, but the head of a list of them
};
[[nodiscard]] std::optional<FilterMessage> decodeFilter(const netlink::Message& message);

} // namespace tna::introspect
