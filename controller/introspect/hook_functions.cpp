// SPDX-License-Identifier: Apache-2.0
#include "introspect/hook_functions.hpp"

#include "introspect/decode_rule_set.hpp"

#include <arpa/inet.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_hook.h>

namespace tna::introspect {

namespace {
// include/uapi/linux/netfilter/nfnetlink.h, since 5.14.
constexpr int hookSubsystem = 12;
constexpr int attempts = 3;

/// Functions of one place, asked for once.
std::optional<std::vector<model::HookFunction>> functionsAt(const HookDump& dump, std::uint8_t family,
                                                            std::uint32_t hook) {
    std::vector<model::HookFunction> found;
    bool good = true;
    const auto outcome = dump(family, hook, [&](const netlink::Message& message) {
        auto function = decodeHookFunction(message);
        good &= function && static_cast<std::uint8_t>(function->family) == family && function->hook == hook;
        if (good)
            found.push_back(std::move(*function));
    });
    if (outcome.error != 0 || outcome.interrupted || !good)
        return std::nullopt;
    return found;
}
} // namespace

std::optional<std::vector<model::HookFunction>> readHookFunctions(const HookDump& dump) {
    std::vector<model::HookFunction> all;
    for (const auto family : {NFPROTO_IPV4, NFPROTO_IPV6, NFPROTO_BRIDGE})
        for (std::uint32_t hook = 0; hook < NF_INET_NUMHOOKS; ++hook) {
            std::optional<std::vector<model::HookFunction>> found;
            for (int attempt = 0; attempt < attempts && !found; ++attempt)
                found = functionsAt(dump, static_cast<std::uint8_t>(family), hook);
            if (!found)
                return std::nullopt;
            all.insert(all.end(), found->begin(), found->end());
        }
    return all;
}

std::optional<std::vector<model::HookFunction>> readHookFunctions(netlink::Socket& socket) {
    return readHookFunctions(
        [&](std::uint8_t family, std::uint32_t hook, const netlink::MessageHandler& handler) {
            netlink::Request request(hookSubsystem << 8 | NFNL_MSG_HOOK_GET, NLM_F_DUMP,
                                     nfgenmsg{family, NFNETLINK_V0, 0});
            request.put(NFNLA_HOOK_HOOKNUM, htonl(hook));
            return socket.exchange(request, handler);
        });
}

std::optional<std::vector<model::HookFunction>> readHookFunctions() {
    auto socket = netlink::Socket::open(NETLINK_NETFILTER);
    if (!socket)
        return std::nullopt;
    return readHookFunctions(*socket);
}

} // namespace tna::introspect
