// SPDX-License-Identifier: Apache-2.0
#include "introspect/decode_station.hpp"
#include "message_builder.hpp"

#include <gtest/gtest.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace tna::test {
namespace {

constexpr model::MacAddress mac{{2, 0, 0, 0, 0, 7}};

struct Entry {
    std::uint16_t type = RTM_NEWNEIGH;
    std::uint8_t family = AF_BRIDGE;
    int port = 4;
    std::uint16_t state = NUD_REACHABLE;
    std::uint8_t flags = 0;
    std::uint32_t more = 0;
    std::uint32_t bridge = 9;
    std::uint8_t activity = 0;
};

std::optional<model::StationChange> decoded(const Entry& entry) {
    ndmsg header{};
    header.ndm_family = entry.family;
    header.ndm_ifindex = entry.port;
    header.ndm_state = entry.state;
    header.ndm_flags = entry.flags;
    MessageBuilder builder(entry.type, header);
    builder.put(NDA_LLADDR, mac.bytes).put(NDA_FLAGS_EXT, entry.more);
    builder.put(NDA_VLAN, std::uint16_t{7});
    builder.put(NDA_CACHEINFO, nda_cacheinfo{0, 0, 150, 0});
    if (entry.activity != 0)
        builder.nest(NDA_FDB_EXT_ATTRS,
                     [&](auto& extended) { extended.put(NFEA_ACTIVITY_NOTIFY, entry.activity); });
    if (entry.bridge != 0)
        builder.put(NDA_MASTER, entry.bridge);
    const auto bytes = builder.bytes();
    netlink::Bytes rest(bytes);
    const auto message = netlink::Message::next(rest);
    return message ? introspect::decodeStation(*message) : std::nullopt;
}

TEST(DecodeStation, ReadsKeyPlaceAndAge) {
    const auto change = decoded({});
    ASSERT_TRUE(change && change->now);
    EXPECT_EQ(change->key, (model::StationKey{9, 7, mac}));
    EXPECT_EQ(change->now->port, 4U);
    EXPECT_FALSE(change->now->local);
    EXPECT_FALSE(change->now->sticky);
    EXPECT_EQ(change->now->unused, std::chrono::milliseconds(1500));
}

TEST(DecodeStation, WhatIsTheHostsOwnOrLockedIsLocal) {
    EXPECT_TRUE(decoded({.state = NUD_PERMANENT})->now->local);
    EXPECT_TRUE(decoded({.port = 9})->now->local) << "behind the bridge itself";
    EXPECT_TRUE(decoded({.more = 2})->now->local) << "NTF_EXT_LOCKED";
    EXPECT_FALSE(decoded({.state = NUD_NOARP})->now->local) << "static";
}

TEST(DecodeStation, StickyStationsAreKnownAsSuch) {
    EXPECT_TRUE(decoded({.flags = NTF_STICKY})->now->sticky);
}

TEST(DecodeStation, ActivityMattersWhileThereIsNone) {
    EXPECT_FALSE(decoded({})->now->inactive);
    EXPECT_FALSE(decoded({.activity = FDB_NOTIFY_BIT})->now->inactive);
    EXPECT_TRUE(decoded({.activity = FDB_NOTIFY_BIT | FDB_NOTIFY_INACTIVE_BIT})->now->inactive);
}

TEST(DecodeStation, RemovalHasNoValue) {
    const auto change = decoded({.type = RTM_DELNEIGH});
    ASSERT_TRUE(change);
    EXPECT_FALSE(change->now);
}

TEST(DecodeStation, OtherNeighboursAreNotStations) {
    EXPECT_FALSE(decoded({.family = AF_INET}));
    EXPECT_FALSE(decoded({.bridge = 0})) << "an address list of a device";
    EXPECT_FALSE(decoded({.port = 0}));
    EXPECT_FALSE(decoded({.type = RTM_NEWLINK}));
}

} // namespace
} // namespace tna::test
