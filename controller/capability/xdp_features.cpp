// SPDX-License-Identifier: Apache-2.0
#include "capability/xdp_features.hpp"

#include "netlink/socket.hpp"

#include <algorithm>
#include <linux/genetlink.h>

namespace tna::capability {

namespace {
// include/uapi/linux/netdev.h, since 6.3
constexpr std::uint8_t netdevCmdDevGet = 1;
constexpr std::uint16_t netdevAttrIfindex = 1;
constexpr std::uint16_t netdevAttrXdpFeatures = 3;
constexpr std::uint64_t actBasic = 1;
constexpr std::uint64_t actRedirect = 2;
constexpr std::uint64_t actNdoXmit = 4;
constexpr std::uint64_t actRxSg = 32;

netlink::Request genericRequest(std::uint16_t family, std::uint8_t command, int flags) {
    return {family, flags, genlmsghdr{command, 1, 0}};
}

Result<std::uint16_t> netdevFamily() {
    auto request = genericRequest(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
    request.put(CTRL_ATTR_FAMILY_NAME, "netdev");
    std::uint16_t family = 0;
    auto asked = netlink::ask(NETLINK_GENERIC, request, [&](const netlink::Message& message) {
        if (const auto attributes = message.attributes<genlmsghdr>())
            attributes->take(CTRL_ATTR_FAMILY_ID, family);
        return true;
    });
    if (!asked)
        return std::unexpected(
            std::move(asked.error()).withHint("drivers tell their XDP features since Linux 6.3"));
    return family;
}

XdpFeatures decode(std::uint64_t bits) {
    return {(bits & (actBasic | actRedirect)) == (actBasic | actRedirect), (bits & actNdoXmit) != 0,
            (bits & actRxSg) != 0};
}

/// What a page holds besides the frame: XDP_PACKET_HEADROOM, struct skb_shared_info, and the frame's own
/// Ethernet header.
constexpr std::uint32_t pageSize = 4096;
constexpr std::uint32_t besidesPayload = 256 + 320 + 14;
} // namespace

std::uint32_t maxMtuWithXdp(const XdpFeatures& features, std::uint32_t maxMtuOfDevice) {
    if (!features.native || features.frags)
        return maxMtuOfDevice;
    const auto page = pageSize - besidesPayload;
    return maxMtuOfDevice == 0 ? page : std::min(maxMtuOfDevice, page);
}

Result<std::map<model::IfIndex, XdpFeatures>> readXdpFeatures() {
    const auto family = netdevFamily();
    if (!family)
        return std::unexpected(family.error());
    auto request = genericRequest(*family, netdevCmdDevGet, NLM_F_DUMP);
    std::map<model::IfIndex, XdpFeatures> devices;
    auto asked = netlink::ask(NETLINK_GENERIC, request, [&](const netlink::Message& message) {
        const auto attributes = message.attributes<genlmsghdr>();
        if (!attributes)
            return true;
        const auto ifindex = attributes->value<std::uint32_t>(netdevAttrIfindex).value_or(0);
        const auto bits = attributes->value<std::uint64_t>(netdevAttrXdpFeatures).value_or(0);
        if (ifindex != 0)
            devices[ifindex] = decode(bits);
        return true;
    });
    if (!asked)
        return std::unexpected(asked.error());
    return devices;
}

} // namespace tna::capability
