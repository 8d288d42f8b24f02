// SPDX-License-Identifier: Apache-2.0
#include "capability/xdp_features.hpp"

#include "capability/netlink_query.hpp"

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

nlmsghdr* genericRequest(char* buffer, std::uint16_t family, std::uint8_t command, std::uint16_t flags) {
    nlmsghdr* request = mnl_nlmsg_put_header(buffer);
    request->nlmsg_type = family;
    request->nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
    auto* generic = static_cast<genlmsghdr*>(mnl_nlmsg_put_extra_header(request, sizeof(genlmsghdr)));
    generic->cmd = command;
    generic->version = 1;
    return request;
}

Result<std::uint16_t> netdevFamily() {
    std::array<char, 512> buffer{};
    auto* request = genericRequest(buffer.data(), GENL_ID_CTRL, CTRL_CMD_GETFAMILY, NLM_F_ACK);
    mnl_attr_put_strz(request, CTRL_ATTR_FAMILY_NAME, "netdev");
    std::uint16_t family = 0;
    auto asked = queryNetlink(NETLINK_GENERIC, request, [&](const nlmsghdr* message) {
        forEachAttribute(message, sizeof(genlmsghdr), [&](const nlattr* attribute) {
            if (mnl_attr_get_type(attribute) == CTRL_ATTR_FAMILY_ID &&
                mnl_attr_validate(attribute, MNL_TYPE_U16) >= 0)
                family = mnl_attr_get_u16(attribute);
        });
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
    std::array<char, 512> buffer{};
    auto* request = genericRequest(buffer.data(), *family, netdevCmdDevGet, NLM_F_DUMP);
    std::map<model::IfIndex, XdpFeatures> devices;
    auto asked = queryNetlink(NETLINK_GENERIC, request, [&](const nlmsghdr* message) {
        model::IfIndex ifindex = 0;
        std::uint64_t bits = 0;
        forEachAttribute(message, sizeof(genlmsghdr), [&](const nlattr* attribute) {
            if (mnl_attr_get_type(attribute) == netdevAttrIfindex &&
                mnl_attr_validate(attribute, MNL_TYPE_U32) >= 0)
                ifindex = mnl_attr_get_u32(attribute);
            else if (mnl_attr_get_type(attribute) == netdevAttrXdpFeatures &&
                     mnl_attr_validate(attribute, MNL_TYPE_U64) >= 0)
                bits = mnl_attr_get_u64(attribute);
        });
        if (ifindex != 0)
            devices[ifindex] = decode(bits);
        return true;
    });
    if (!asked)
        return std::unexpected(asked.error());
    return devices;
}

} // namespace tna::capability
