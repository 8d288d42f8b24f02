// SPDX-License-Identifier: Apache-2.0
#include "expect.hpp"

#include <map>
#include <random>
#include <set>

namespace tna::nat64::test {
namespace {

constexpr std::uint8_t syn = 2;

Pool poolOf(const std::string& text) {
    Pool pool;
    EXPECT_TRUE(pool.add(text));
    return pool;
}

Sessions sessionsOf(const std::string& pool, SessionSettings settings = {.most = 1024}) {
    return {settings, poolOf(pool), 99};
}

TEST(PoolOfPorts, KeepsThePortOrItsParityAndRange) {
    auto pool = poolOf("192.0.2.1");
    EXPECT_EQ(pool.take(Kind::udp, 5004, 0, 7)->port, 5004);
    EXPECT_EQ(pool.take(Kind::udp, 5005, 0, 7)->port, 5005) << "pairs stay neighbours";
    for (const int number : {5004, 5005, 80, 81, 80, 81}) {
        const auto wanted = static_cast<std::uint16_t>(number);
        const auto place = pool.take(Kind::udp, wanted, 0, 12345);
        EXPECT_EQ(place->port % 2, wanted % 2);
        EXPECT_EQ(place->port < 1024, wanted < 1024);
    }
    EXPECT_EQ(pool.take(Kind::tcp, 5004, 0, 7)->port, 5004) << "each protocol has its own";
}

TEST(PoolOfPorts, GivesAllThatThereAreAndTakesThemBack) {
    auto pool = poolOf("192.0.2.0/31:2000-2129");
    std::set<std::pair<Address4, std::uint16_t>> seen;
    for (unsigned i = 0; i < 260; i++) {
        const auto place = pool.take(Kind::udp, static_cast<std::uint16_t>(i * 7), i, i * 977);
        ASSERT_TRUE(place) << i;
        EXPECT_GE(place->port, 2000);
        EXPECT_LE(place->port, 2129);
        EXPECT_TRUE(seen.emplace(place->address, place->port).second) << "twice";
    }
    EXPECT_FALSE(pool.take(Kind::udp, 5, 0, 0));
    EXPECT_EQ(pool.taken(), 260U);
    pool.giveBack(Kind::udp, {v4("192.0.2.1"), 2077});
    const auto again = pool.take(Kind::udp, 5, 0, 0);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->address, v4("192.0.2.1"));
    EXPECT_EQ(again->port, 2077);
}

TEST(BindingTable, IsFoundByHostAndByPlace) {
    Bindings bindings{4, poolOf("192.0.2.1"), 99};
    const auto number = bindings.add(Kind::udp, v6("2001:db8::1"), 5004);
    ASSERT_TRUE(number);
    const auto place = bindings.at(*number).place;
    EXPECT_EQ(place.port, 5004);
    EXPECT_EQ(bindings.find(Kind::udp, v6("2001:db8::1"), 5004), *number);
    EXPECT_EQ(bindings.find(Kind::udp, place), *number);
    EXPECT_EQ(bindings.find(Kind::tcp, v6("2001:db8::1"), 5004), nobody);
    EXPECT_EQ(bindings.find(Kind::tcp, place), nobody);
    EXPECT_EQ(bindings.find(Kind::udp, v6("2001:db8::1"), 5005), nobody);
    EXPECT_EQ(bindings.find(Kind::udp, v6("2001:db8::2"), 5004), nobody);
    bindings.remove(*number);
    EXPECT_EQ(bindings.find(Kind::udp, v6("2001:db8::1"), 5004), nobody);
    EXPECT_EQ(bindings.find(Kind::udp, place), nobody);
    EXPECT_EQ(bindings.size(), 0U);
    EXPECT_EQ(bindings.pool().taken(), 0U);
}

TEST(BindingTable, NeedsAPlaceForEach) {
    Bindings bindings{4, poolOf("192.0.2.1:2000-2001"), 99};
    EXPECT_TRUE(bindings.add(Kind::udp, v6("2001:db8::1"), 1));
    EXPECT_TRUE(bindings.add(Kind::udp, v6("2001:db8::1"), 2));
    const auto third = bindings.add(Kind::udp, v6("2001:db8::1"), 3);
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error(), Reason::poolExhausted);
    EXPECT_TRUE(bindings.add(Kind::tcp, v6("2001:db8::1"), 3)) << "each protocol has its own";
}

TEST(SessionTable, HostHasOneAddressAndAPortForAllThatItSendsTo) {
    auto sessions = sessionsOf("192.0.2.0/24");
    const auto host = v6("2001:db8::1");
    const auto first = sessions.from6(Kind::udp, host, 4000, {1, 53}, 0, 0).value();
    EXPECT_EQ(sessions.from6(Kind::udp, host, 4000, {2, 99}, 0, 0).value(), first);
    for (std::uint16_t port = 1; port < 100; port++)
        EXPECT_EQ(sessions.from6(Kind::tcp, host, port, {1, 80}, syn, 0).value()->place.address,
                  first->place.address);
    EXPECT_EQ(sessions.from4(Kind::udp, first->place, {7, 7}, 0, 0).value(), first) << "whoever it is from";
    EXPECT_EQ(sessions.bindings(), 100U);
    EXPECT_EQ(sessions.sessions(), 102U);
}

TEST(SessionTable, FilterLetsInWhomHasBeenSentTo) {
    auto sessions = sessionsOf("192.0.2.1", {.most = 64, .filterAddress = true});
    const auto place = sessions.from6(Kind::udp, v6("2001:db8::1"), 4000, {1, 53}, 0, 0).value()->place;
    EXPECT_TRUE(sessions.from4(Kind::udp, place, {1, 54}, 0, 0)) << "by any of its ports";
    EXPECT_EQ(sessions.from4(Kind::udp, place, {2, 53}, 0, 0).error(), Reason::filtered);
}

TEST(SessionTable, BoundsAreReasons) {
    auto few = sessionsOf("192.0.2.1", {.most = 2});
    EXPECT_TRUE(few.from6(Kind::udp, v6("2001:db8::1"), 1, {1, 53}, 0, 0));
    EXPECT_TRUE(few.from6(Kind::udp, v6("2001:db8::2"), 1, {1, 53}, 0, 0));
    EXPECT_EQ(few.from6(Kind::udp, v6("2001:db8::3"), 1, {1, 53}, 0, 0).error(), Reason::tableFull);
    EXPECT_TRUE(few.from6(Kind::udp, v6("2001:db8::2"), 1, {1, 53}, 0, 0));
    auto small = sessionsOf("192.0.2.1:5000-5001");
    EXPECT_TRUE(small.from6(Kind::udp, v6("2001:db8::1"), 1, {1, 53}, 0, 0));
    EXPECT_TRUE(small.from6(Kind::udp, v6("2001:db8::1"), 2, {1, 53}, 0, 0));
    EXPECT_EQ(small.from6(Kind::udp, v6("2001:db8::1"), 3, {1, 53}, 0, 0).error(), Reason::poolExhausted);
    EXPECT_EQ(small.sessions(), 2U) << "nothing is half done";
}

TEST(SessionTable, EndsWhatHasBeenQuietForAsLongAsTheRfcSays) {
    auto sessions = sessionsOf("192.0.2.1");
    const auto host = v6("2001:db8::1");
    const auto remains = [&](std::uint32_t now) {
        sessions.expire(now);
        return sessions.sessions();
    };
    const auto ping = sessions.from6(Kind::icmp, host, 5, {1, 0}, 0, 0).value()->place;
    EXPECT_EQ(remains(59), 1U);
    EXPECT_TRUE(sessions.from4(Kind::icmp, ping, {1, 0}, 0, 59));
    EXPECT_EQ(remains(118), 1U);
    EXPECT_EQ(remains(119), 0U);
    EXPECT_TRUE(sessions.from6(Kind::udp, host, 5, {1, 53}, 0, 200));
    EXPECT_EQ(remains(499), 1U);
    EXPECT_EQ(remains(500), 0U);
    const auto web = sessions.from6(Kind::tcp, host, 5, {1, 80}, syn, 1000).value()->place;
    EXPECT_TRUE(sessions.from4(Kind::tcp, web, {1, 80}, 0x12, 1000));
    EXPECT_EQ(remains(1000 + 7439), 1U);
    EXPECT_EQ(remains(1000 + 7440), 0U);
    const auto closed = sessions.from6(Kind::tcp, host, 5, {1, 80}, syn, 10000).value()->place;
    for (const auto flags : {0x12, 0x11})
        EXPECT_TRUE(sessions.from4(Kind::tcp, closed, {1, 80}, static_cast<std::uint8_t>(flags), 10000));
    EXPECT_TRUE(sessions.from6(Kind::tcp, host, 5, {1, 80}, 0x11, 10000));
    EXPECT_TRUE(sessions.from6(Kind::tcp, host, 5, {1, 80}, 0x10, 10100)) << "the last acknowledgement";
    EXPECT_EQ(remains(10239), 1U);
    EXPECT_EQ(remains(10240), 0U);
    EXPECT_EQ(sessions.bindings(), 0U);
    EXPECT_EQ(sessions.pool().taken(), 0U);
}

/// Beside a model that is as simple as can be.
TEST(SessionTable, RemembersWhatAModelRemembers) {
    auto sessions = sessionsOf("192.0.2.0/30:1000-1099", {.most = 300, .seconds = {10, 20, 30, 40}});
    struct Known {
        std::uint32_t last;
        Pool::Place place;
    };
    std::map<std::tuple<std::uint8_t, std::uint16_t, std::uint16_t>, Known> known;
    std::mt19937 random(4);
    std::uint32_t now = 0;
    std::size_t full = 0;
    for (unsigned step = 0; step < 100000; step++) {
        now += random() % 40 == 0 ? 1 : 0;
        sessions.expire(now);
        std::erase_if(known, [&](const auto& entry) { return now - entry.second.last >= 20; });
        ASSERT_EQ(sessions.sessions(), known.size()) << step;
        auto host = v6("2001:db8::");
        host[15] = static_cast<std::uint8_t>(random() % 8);
        const auto port = static_cast<std::uint16_t>(random() % 30);
        const auto remote = static_cast<std::uint16_t>(random() % 4);
        const std::tuple key(host[15], port, remote);
        if (random() % 2 == 0) {
            const auto found = sessions.from6(Kind::udp, host, port, {9, remote}, 0, now);
            if (!found) {
                full++;
                ASSERT_EQ(known.size(), 300U);
                continue;
            }
            known[key] = {now, (*found)->place};
        } else if (const auto entry = known.find(key); entry != known.end()) {
            const auto found = sessions.from4(Kind::udp, entry->second.place, {9, remote}, 0, now);
            ASSERT_TRUE(found);
            ASSERT_EQ((*found)->host, host);
            ASSERT_EQ((*found)->port, port);
            entry->second.last = now;
        }
    }
    EXPECT_GT(full, 0U);
}

} // namespace
} // namespace tna::nat64::test
