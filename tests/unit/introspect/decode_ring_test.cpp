// SPDX-License-Identifier: Apache-2.0
#include "introspect/rings.hpp"
#include "message_builder.hpp"

#include <gtest/gtest.h>
#include <linux/if_bridge.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

/// As br_fill_ifinfo() answers where it is asked for rings.
std::optional<model::IfIndex> decoded(unsigned char family, int ifindex, bool specific, bool ring) {
    ifinfomsg header{};
    header.ifi_family = family;
    header.ifi_index = ifindex;
    MessageBuilder builder(RTM_NEWLINK, header);
    builder.text(IFLA_IFNAME, "br0").put(IFLA_MASTER, std::uint32_t{9});
    if (specific)
        builder.nest(IFLA_AF_SPEC, [&](auto& found) {
            if (ring)
                found.nest(IFLA_BRIDGE_MRP, [](auto& rings) {
                    rings.nest(IFLA_BRIDGE_MRP_INFO,
                               [](auto& info) { info.put(IFLA_BRIDGE_MRP_INFO_RING_ID, std::uint32_t{1}); });
                });
            else
                found.put(IFLA_BRIDGE_MODE, std::uint16_t{0});
        });
    const auto bytes = builder.bytes();
    netlink::Bytes rest(bytes);
    const auto message = netlink::Message::next(rest);
    return message ? introspect::decodeRing(*message) : std::nullopt;
}

TEST(DecodeRing, BridgeThatIsPartOfOneIsFound) {
    EXPECT_EQ(decoded(AF_BRIDGE, 9, true, true), 9U);
}

TEST(DecodeRing, OthersAreNot) {
    EXPECT_FALSE(decoded(AF_BRIDGE, 9, true, false)) << "or a device with a switch of its own";
    EXPECT_FALSE(decoded(AF_BRIDGE, 4, false, false)) << "a port";
    EXPECT_FALSE(decoded(AF_UNSPEC, 9, true, true)) << "a link";
    EXPECT_FALSE(decoded(AF_BRIDGE, 0, true, true));
}

} // namespace
} // namespace tna::test
