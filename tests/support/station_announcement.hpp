// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "netlink/socket.hpp"

#include <gtest/gtest.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

namespace tna::test {

/// What Linux might announce of a station of br0 (RTM_NEWNEIGH, RTM_DELNEIGH), but this does not come from
/// it.
template <typename Mac>
void announceStation(std::uint16_t type, const Mac& mac, const char* port) {
    ndmsg header{};
    header.ndm_family = AF_BRIDGE;
    header.ndm_ifindex = static_cast<int>(::if_nametoindex(port));
    netlink::Request request(type, 0, header);
    request.put(NDA_LLADDR, mac);
    request.put(NDA_MASTER, std::uint32_t{::if_nametoindex("br0")});
    // The kernel, which gets it as well, does not take it for a request.
    request.message().nlmsg_flags = 0;
    const auto sender = netlink::Socket::open(NETLINK_ROUTE);
    ASSERT_TRUE(sender);
    sockaddr_nl everybody{};
    everybody.nl_family = AF_NETLINK;
    everybody.nl_groups = 1U << (RTNLGRP_NEIGH - 1);
    const auto& message = request.message();
    ASSERT_EQ(::sendto(sender->fd(), &message, message.nlmsg_len, 0,
                       reinterpret_cast<const sockaddr*>(&everybody), sizeof everybody),
              static_cast<ssize_t>(message.nlmsg_len));
}

} // namespace tna::test
