// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/rule_set.hpp"
#include "netlink/socket.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace tna::introspect {

/// Asks the kernel for the functions of one family (NFPROTO_*) at one hook.
using HookDump = std::function<netlink::Socket::Outcome(std::uint8_t family, std::uint32_t hook,
                                                        const netlink::MessageHandler& handler)>;

/// What netfilter calls for packets of IPv4, IPv6 and of bridges. Nothing where one of the answers is not
/// whole: then it is not known.
[[nodiscard]] std::optional<std::vector<model::HookFunction>> readHookFunctions(const HookDump& dump);

/// By netlink, where the kernel has that (CONFIG_NETFILTER_NETLINK_HOOK, since 5.14).
[[nodiscard]] std::optional<std::vector<model::HookFunction>> readHookFunctions(netlink::Socket& socket);

/// By a socket of its own, in the network namespace of the calling thread.
[[nodiscard]] std::optional<std::vector<model::HookFunction>> readHookFunctions();

} // namespace tna::introspect
