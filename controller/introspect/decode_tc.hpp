// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/attributes.hpp"
#include "model/network.hpp"

namespace tna::introspect {

/// RTM_NEWQDISC.
[[nodiscard]] std::optional<model::Qdisc> decodeQdisc(const Message& message);

/// RTM_NEWTFILTER or RTM_DELTFILTER.
struct FilterMessage {
    std::int32_t ifindex = 0; ///< TCM_IFINDEX_MAGIC_BLOCK for a block that several links share
    std::uint32_t handle = 0; ///< 0: not a filter, but the head of a list of them
};
[[nodiscard]] std::optional<FilterMessage> decodeFilter(const Message& message);

} // namespace tna::introspect
