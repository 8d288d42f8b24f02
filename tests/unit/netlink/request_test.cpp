// SPDX-License-Identifier: Apache-2.0
#include "netlink/attributes.hpp"
#include "netlink/request.hpp"
#include "netlink/socket.hpp"

#include <cerrno>
#include <gtest/gtest.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <string>

namespace tna::test {
namespace {

netlink::Message messageOf(netlink::Request& request) {
    netlink::Bytes rest(reinterpret_cast<const std::byte*>(&request.message()), request.message().nlmsg_len);
    return netlink::Message::next(rest).value();
}

TEST(Request, HasRoomForWhateverIsPutIntoIt) {
    netlink::Request request(RTM_GETLINK, NLM_F_DUMP, ifinfomsg{});
    const std::string longest(255, 'n');
    constexpr std::uint16_t many = 40;
    for (std::uint16_t type = 1; type <= many; ++type)
        request.put(type, longest.c_str());
    request.put(many + 1, std::uint32_t{7});
    const auto message = messageOf(request);
    EXPECT_EQ(message.type, RTM_GETLINK);
    const auto attributes = message.attributes<ifinfomsg>();
    ASSERT_TRUE(attributes);
    for (std::uint16_t type = 1; type <= many; ++type)
        EXPECT_EQ(attributes->text(type), longest);
    EXPECT_EQ(attributes->value<std::uint32_t>(many + 1), 7U);
    EXPECT_TRUE(request.whole());
}

TEST(Request, WithAnAttributeThatIsTooLongIsNotSent) {
    netlink::Request request(RTM_GETLINK, 0, ifinfomsg{});
    request.put(1, std::string(0xffff - NLA_HDRLEN - 1, 'n').c_str());
    EXPECT_TRUE(request.whole());
    request.put(2, std::string(0xffff - NLA_HDRLEN, 'n').c_str());
    EXPECT_FALSE(request.whole());
    EXPECT_FALSE(messageOf(request).attributes<ifinfomsg>()->has(2));
    auto socket = netlink::Socket::open(NETLINK_ROUTE);
    ASSERT_TRUE(socket);
    EXPECT_EQ(socket->exchange(request, [](const netlink::Message&) {}).error, EMSGSIZE);
}

} // namespace
} // namespace tna::test
