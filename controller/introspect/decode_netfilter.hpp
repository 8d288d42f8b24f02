// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/network.hpp"
#include "netlink/attributes.hpp"

#include <vector>

namespace tna::introspect {

/// Whether an nf_tables announcement can change hooks or rules. Elements of sets come and go by the thousand,
/// and are not in the model.
[[nodiscard]] bool changesRules(const netlink::Message& message);

/// NFT_MSG_NEWCHAIN: one hook per device of a base chain, one without a device elsewhere; none for other
/// chains.
[[nodiscard]] std::optional<std::vector<model::NetfilterHook>> decodeChain(const netlink::Message& message);

/// NFT_MSG_NEWFLOWTABLE: a hook at the ingress of each device.
[[nodiscard]] std::optional<std::vector<model::NetfilterHook>>
decodeFlowtable(const netlink::Message& message);

/// XFRM_MSG_NEWSPDINFO: the number of policies.
[[nodiscard]] std::optional<std::uint32_t> decodePolicyCount(const netlink::Message& message);

} // namespace tna::introspect
