// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_netfilter.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/xfrm.h>

namespace tna::introspect {

namespace {

std::string familyText(unsigned char family) {
    switch (family) {
    case NFPROTO_INET:
        return "inet";
    case NFPROTO_IPV4:
        return "ip";
    case NFPROTO_IPV6:
        return "ip6";
    case NFPROTO_ARP:
        return "arp";
    case NFPROTO_BRIDGE:
        return "bridge";
    case NFPROTO_NETDEV:
        return "netdev";
    default:
        return fmt::format("family {}", family);
    }
}

std::string hookText(unsigned char family, std::uint32_t hook) {
    static constexpr std::array general{"prerouting", "input", "forward", "output", "postrouting", "ingress"};
    static constexpr std::array arp{"input", "output", "forward"};
    static constexpr std::array netdev{"ingress", "egress"};
    const auto pick = [&](const auto& names) {
        return hook < names.size() ? std::string(names[hook]) : fmt::format("hook {}", hook);
    };
    if (family == NFPROTO_ARP)
        return pick(arp);
    return family == NFPROTO_NETDEV ? pick(netdev) : pick(general);
}

void perDevice(const netlink::Attributes& devices, model::NetfilterHook hook,
               std::vector<model::NetfilterHook>& hooks) {
    devices.forEach([&](const netlink::Attribute& device) {
        hook.device =
            std::string(reinterpret_cast<const char*>(device.payload.data()), device.payload.size());
        hook.device.resize(std::min(hook.device.find('\0'), hook.device.size()));
        hooks.push_back(hook);
    });
}

} // namespace

bool changesRules(const netlink::Message& message) {
    if (message.type >> 8U != NFNL_SUBSYS_NFTABLES)
        return false;
    switch (message.type & 0xffU) {
    case NFT_MSG_NEWTABLE:
    case NFT_MSG_DELTABLE:
    case NFT_MSG_NEWCHAIN:
    case NFT_MSG_DELCHAIN:
    case NFT_MSG_NEWRULE:
    case NFT_MSG_DELRULE:
    case NFT_MSG_NEWFLOWTABLE:
    case NFT_MSG_DELFLOWTABLE:
        return true;
    default:
        return false;
    }
}

std::optional<std::vector<model::NetfilterHook>> decodeChain(const netlink::Message& message) {
    const auto header = message.header<nfgenmsg>();
    const auto attributes = message.attributes<nfgenmsg>();
    if (!header || !attributes)
        return std::nullopt;
    std::vector<model::NetfilterHook> hooks;
    if (!attributes->has(NFTA_CHAIN_HOOK))
        return hooks;
    const auto hook = attributes->nested(NFTA_CHAIN_HOOK);
    if (!hook)
        return std::nullopt;
    const auto devices = hook->nested(NFTA_HOOK_DEVS);
    if (!devices)
        return std::nullopt;
    model::NetfilterHook found;
    found.family = familyText(header->nfgen_family);
    found.table = attributes->text(NFTA_CHAIN_TABLE);
    found.chain = attributes->text(NFTA_CHAIN_NAME);
    found.hook =
        hookText(header->nfgen_family, ntohl(hook->value<std::uint32_t>(NFTA_HOOK_HOOKNUM).value_or(0)));
    // The kernel sends a single device in both forms (nft_dump_basechain_hook).
    perDevice(*devices, found, hooks);
    if (hooks.empty()) {
        found.device = hook->text(NFTA_HOOK_DEV);
        hooks.push_back(found);
    }
    return hooks;
}

std::optional<std::vector<model::NetfilterHook>> decodeFlowtable(const netlink::Message& message) {
    const auto attributes = message.attributes<nfgenmsg>();
    const auto hook = attributes ? attributes->nested(NFTA_FLOWTABLE_HOOK) : std::nullopt;
    const auto devices = hook ? hook->nested(NFTA_FLOWTABLE_HOOK_DEVS) : std::nullopt;
    if (!devices)
        return std::nullopt;
    std::vector<model::NetfilterHook> hooks;
    perDevice(*devices,
              {"netdev",
               attributes->text(NFTA_FLOWTABLE_TABLE),
               attributes->text(NFTA_FLOWTABLE_NAME),
               "ingress",
               {},
               true},
              hooks);
    return hooks;
}

std::optional<std::uint32_t> decodePolicyCount(const netlink::Message& message) {
    if (message.type != XFRM_MSG_NEWSPDINFO)
        return std::nullopt;
    const auto attributes = message.attributes<std::uint32_t>();
    const auto info = attributes ? attributes->value<xfrmu_spdinfo>(XFRMA_SPD_INFO) : std::nullopt;
    if (!info)
        return std::nullopt;
    return info->incnt + info->outcnt + info->fwdcnt + info->inscnt + info->outscnt + info->fwdscnt;
}

} // namespace tna::introspect
