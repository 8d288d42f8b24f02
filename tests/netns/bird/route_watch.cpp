// SPDX-License-Identifier: Apache-2.0
#include "route_watch.hpp"

#include "capability/netlink_query.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <libmnl/libmnl.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::test {

namespace {
constexpr unsigned firstOfIpv4 = 20U << 16U; // 20.0.0.0 without its last byte

UniqueFd listen(int family) {
    UniqueFd fd{::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)};
    const int room = 256 << 20; // all routes change at once
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof(room));
    sockaddr_nl address{};
    address.nl_family = AF_NETLINK;
    address.nl_groups = family == AF_INET ? RTMGRP_IPV4_ROUTE : RTMGRP_IPV6_ROUTE;
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
}
} // namespace

std::string Prefixes::text(unsigned number) const {
    if (family == AF_INET)
        return fmt::format("{}.{}.{}.0/24", 20 + (number >> 16U), number >> 8U & 255U, number & 255U);
    return fmt::format("fd20:{:x}:{:x}::/48", number >> 16U, number & 0xffffU);
}

std::string Prefixes::host(unsigned number) const {
    if (family == AF_INET)
        return fmt::format("{}.{}.{}.9", 20 + (number >> 16U), number >> 8U & 255U, number & 255U);
    return fmt::format("fd20:{:x}:{:x}::9", number >> 16U, number & 0xffffU);
}

RouteWatch::RouteWatch(const Prefixes& prefixes)
    : prefixes_(prefixes), socket_(listen(prefixes.family)), interfaces_(prefixes.count) {}

std::optional<unsigned> RouteWatch::numberOf(const void* address, std::size_t length) const {
    std::array<std::uint8_t, 16> bytes{};
    std::memcpy(bytes.data(), address, std::min(length, bytes.size()));
    const auto at = prefixes_.family == AF_INET ? 0U : 2U;
    const unsigned word = static_cast<unsigned>(bytes[at]) << 24U |
                          static_cast<unsigned>(bytes[at + 1]) << 16U |
                          static_cast<unsigned>(bytes[at + 2]) << 8U | bytes[at + 3];
    const unsigned number = prefixes_.family == AF_INET ? (word >> 8U) - firstOfIpv4 : word;
    const bool announced = prefixes_.family == AF_INET || (bytes[0] == 0xfd && bytes[1] == 0x20);
    return announced && number < prefixes_.count ? std::optional(number) : std::nullopt;
}

void RouteWatch::take(const char* bytes, std::size_t length) {
    auto left = static_cast<int>(length);
    for (const auto* message = reinterpret_cast<const nlmsghdr*>(bytes); mnl_nlmsg_ok(message, left);
         message = mnl_nlmsg_next(message, &left)) {
        const bool added = message->nlmsg_type == RTM_NEWROUTE;
        std::optional<unsigned> number;
        unsigned interface = 0;
        capability::forEachAttribute(message, sizeof(rtmsg), [&](const nlattr* attribute) {
            if (mnl_attr_get_type(attribute) == RTA_DST)
                number = numberOf(mnl_attr_get_payload(attribute), mnl_attr_get_payload_len(attribute));
            if (mnl_attr_get_type(attribute) == RTA_OIF)
                interface = mnl_attr_get_u32(attribute);
        });
        if (!number)
            continue;
        auto& known = interfaces_[*number];
        if (added)
            known = interface;
        else if (known == interface)
            known = 0;
    }
}

void RouteWatch::drain() {
    alignas(nlmsghdr) std::array<char, 65536> buffer{};
    for (;;) {
        const auto length = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
        if (length < 0) {
            EXPECT_EQ(errno, EAGAIN) << "announcements were lost";
            return;
        }
        take(buffer.data(), static_cast<std::size_t>(length));
    }
}

bool RouteWatch::allBy(unsigned interface) const {
    return std::ranges::all_of(interfaces_, [&](auto known) { return known == interface; });
}

} // namespace tna::test
