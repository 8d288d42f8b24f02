// SPDX-License-Identifier: Apache-2.0
#include "route_watch.hpp"

#include "netlink/attributes.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>
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
    netlink::Bytes rest(reinterpret_cast<const std::byte*>(bytes), length);
    while (const auto message = netlink::Message::next(rest)) {
        const auto attributes = message->attributes<rtmsg>();
        const auto destination = attributes ? attributes->find(RTA_DST) : std::nullopt;
        const auto number = destination ? numberOf(destination->data(), destination->size()) : std::nullopt;
        const auto interface = attributes ? attributes->value<unsigned>(RTA_OIF).value_or(0) : 0;
        const bool added = message->type == RTM_NEWROUTE;
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
