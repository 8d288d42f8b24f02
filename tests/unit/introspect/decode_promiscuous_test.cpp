// SPDX-License-Identifier: Apache-2.0
#include "introspect/promiscuous.hpp"
#include "message_builder.hpp"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

/// As rtnl_fill_ifinfo() answers.
std::optional<model::IfIndex> decoded(unsigned char family, int ifindex, std::optional<std::uint32_t> many) {
    ifinfomsg header{};
    header.ifi_family = family;
    header.ifi_index = ifindex;
    MessageBuilder builder(RTM_NEWLINK, header);
    builder.text(IFLA_IFNAME, "br0");
    if (many)
        builder.put(IFLA_PROMISCUITY, *many);
    const auto bytes = builder.bytes();
    netlink::Bytes rest(bytes);
    const auto message = netlink::Message::next(rest);
    return message ? introspect::decodePromiscuous(*message) : std::nullopt;
}

TEST(DecodePromiscuous, LinkThatWantsAllFramesIsFound) {
    EXPECT_EQ(decoded(AF_UNSPEC, 9, 1), 9U);
    EXPECT_EQ(decoded(AF_UNSPEC, 9, 256), 9U);
}

TEST(DecodePromiscuous, OthersAreNot) {
    EXPECT_FALSE(decoded(AF_UNSPEC, 9, 0));
    EXPECT_FALSE(decoded(AF_UNSPEC, 9, std::nullopt));
    EXPECT_FALSE(decoded(AF_BRIDGE, 9, 1)) << "a bridge's list";
    EXPECT_FALSE(decoded(AF_UNSPEC, 0, 1));
}

} // namespace
} // namespace tna::test
