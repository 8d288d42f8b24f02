// SPDX-License-Identifier: Apache-2.0
#include "sessions.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace tna::balancer {
namespace {

Endpoint client(std::uint32_t number) {
    const std::uint8_t bytes[4]{198, 51, static_cast<std::uint8_t>(number >> 24U),
                                static_cast<std::uint8_t>(number >> 16U)};
    return {Address::four(bytes), static_cast<std::uint16_t>(number)};
}

TEST(SessionTable, IsFoundByServiceAndClient) {
    Sessions sessions(16, 1);
    sessions.add(1, client(5), 3, 0);
    ASSERT_NE(sessions.find(1, client(5)), nullptr);
    EXPECT_EQ(sessions.find(1, client(5))->backend, 3);
    EXPECT_EQ(sessions.find(2, client(5)), nullptr);
    EXPECT_EQ(sessions.find(1, client(6)), nullptr);
    EXPECT_EQ(sessions.find(1, client(5 + 65536)), nullptr) << "another address";
    sessions.remove(*sessions.find(1, client(5)));
    EXPECT_EQ(sessions.find(1, client(5)), nullptr);
    EXPECT_EQ(sessions.size(), 0U);
}

TEST(SessionTable, TheOldestGoesWhereThereIsNoRoom) {
    Sessions sessions(16, 1);
    for (std::uint32_t i = 0; i < 16; i++)
        sessions.add(0, client(i), 0, i);
    sessions.touch(*sessions.find(0, client(0)), Session::begun, 20);
    sessions.add(0, client(100), 0, 21);
    EXPECT_EQ(sessions.size(), 16U);
    EXPECT_EQ(sessions.evicted(), 1U);
    EXPECT_NE(sessions.find(0, client(0)), nullptr) << "it was seen again";
    EXPECT_EQ(sessions.find(0, client(1)), nullptr);
}

/// A flood of beginnings is at the expense of beginnings.
TEST(SessionTable, WhatLastsIsNotDisplacedByWhatBegins) {
    Sessions sessions(16, 1);
    for (std::uint32_t i = 0; i < 8; i++)
        sessions.touch(sessions.add(0, client(i), 0, 0), Session::lasting, 0);
    for (std::uint32_t i = 100; i < 1100; i++)
        sessions.add(0, client(i), 0, i);
    for (std::uint32_t i = 0; i < 8; i++)
        EXPECT_NE(sessions.find(0, client(i)), nullptr) << i;
    EXPECT_EQ(sessions.size(), 16U);
}

TEST(SessionTable, WhatLastsIsDisplacedWhereNothingElseIs) {
    Sessions sessions(16, 1);
    for (std::uint32_t i = 0; i < 17; i++)
        sessions.touch(sessions.add(0, client(i), 0, i), Session::lasting, i);
    EXPECT_EQ(sessions.find(0, client(0)), nullptr);
    EXPECT_NE(sessions.find(0, client(16)), nullptr);
}

/// Of many that begin at once none is displaced by the next one, whatever was before.
TEST(SessionTable, WhatIsOverMakesRoom) {
    for (const auto state : {Session::begun, Session::lasting, Session::closing}) {
        Sessions sessions(16, 1);
        sessions.setIdleTimes({900});
        for (std::uint32_t i = 0; i < 16; i++)
            sessions.touch(sessions.add(0, client(i), 0, 0), state, 0);
        for (std::uint32_t i = 100; i < 116; i++)
            sessions.add(0, client(i), 0, 901);
        for (std::uint32_t i = 100; i < 116; i++)
            EXPECT_NE(sessions.find(0, client(i)), nullptr) << i;
        EXPECT_EQ(sessions.evicted(), 0U);
    }
}

/// Nobody has to wait until all have been looked at.
TEST(SessionTable, OldestOfEachKindMakesRoomAtOnce) {
    for (const auto state : {Session::begun, Session::lasting, Session::closing}) {
        Sessions sessions(64, 1);
        sessions.setIdleTimes({900});
        for (std::uint32_t i = 0; i < 64; i++)
            sessions.touch(sessions.add(0, client(i), 0, 0), state, 0);
        for (std::uint32_t i = 0; i < 64; i++)
            if (i != 40)
                sessions.touch(*sessions.find(0, client(i)), state, 901);
        sessions.add(0, client(100), 0, 901);
        EXPECT_EQ(sessions.find(0, client(40)), nullptr);
        EXPECT_EQ(sessions.evicted(), 0U);
    }
}

/// The oldest one is not over, and those behind it are.
TEST(SessionTable, WhatIsOverIsFoundBehindWhatIsNot) {
    Sessions sessions(16, 1);
    sessions.setIdleTimes({9000, 900});
    for (std::uint32_t i = 0; i < 16; i++)
        sessions.touch(sessions.add(i == 0 ? 0 : 1, client(i), 0, i), Session::lasting, i);
    for (std::uint32_t i = 100; i < 110; i++)
        sessions.add(0, client(i), 0, 1000);
    for (std::uint32_t i = 100; i < 110; i++)
        EXPECT_NE(sessions.find(0, client(i)), nullptr) << i;
    EXPECT_NE(sessions.find(0, client(0)), nullptr);
    EXPECT_EQ(sessions.evicted(), 0U);
}

TEST(SessionTable, WhatHasEndedIsOverSooner) {
    Sessions sessions(16, 1);
    sessions.setIdleTimes({900, 60});
    auto& session = sessions.add(0, client(1), 0, 0);
    EXPECT_FALSE(sessions.isOver(session, 900));
    EXPECT_TRUE(sessions.isOver(session, 901));
    sessions.touch(session, Session::closing, 0);
    EXPECT_FALSE(sessions.isOver(session, 120));
    EXPECT_TRUE(sessions.isOver(session, 121));
    auto& other = sessions.add(1, client(1), 0, 0);
    sessions.touch(other, Session::closing, 0);
    EXPECT_TRUE(sessions.isOver(other, 61));
}

/// An eighth of the table. Else only one at a time could begin where all others last.
TEST(SessionTable, ShareIsForWhatBegins) {
    Sessions sessions(64, 1);
    sessions.setIdleTimes({900});
    for (std::uint32_t i = 0; i < 64; i++)
        sessions.touch(sessions.add(0, client(i), 0, i), Session::lasting, i);
    for (std::uint32_t i = 100; i < 200; i++)
        sessions.add(0, client(i), 0, 100);
    for (std::uint32_t i = 0; i < 64; i++)
        EXPECT_EQ(sessions.find(0, client(i)) != nullptr, i >= 8) << i;
    for (std::uint32_t i = 192; i < 200; i++)
        EXPECT_NE(sessions.find(0, client(i)), nullptr) << i;
    sessions.touch(*sessions.find(0, client(199)), Session::lasting, 100);
    sessions.add(0, client(200), 0, 100);
    EXPECT_EQ(sessions.find(0, client(8)), nullptr) << "who lasts leaves the share to others";
    sessions.remove(*sessions.find(0, client(200)));
    sessions.add(0, client(201), 0, 100);
    EXPECT_NE(sessions.find(0, client(9)), nullptr);
}

TEST(SessionTable, WhatHasEndedGoesBeforeWhatLasts) {
    Sessions sessions(16, 1);
    for (std::uint32_t i = 0; i < 16; i++)
        sessions.touch(sessions.add(0, client(i), 0, i), i == 9 ? Session::closing : Session::lasting, i);
    sessions.add(0, client(100), 0, 100);
    EXPECT_EQ(sessions.find(0, client(9)), nullptr);
    EXPECT_NE(sessions.find(0, client(0)), nullptr);
}

/// Beside a map of the standard library, at random.
TEST(SessionTable, IsWhatAMapIs) {
    Sessions sessions(500, 7);
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::uint16_t> expected;
    std::mt19937 random(1);
    for (std::uint32_t now = 0; now < 100'000; now++) {
        const auto number = static_cast<std::uint32_t>(random() % 150);
        const auto service = static_cast<std::uint16_t>(random() % 3);
        const auto backend = static_cast<std::uint16_t>(random() % 100);
        auto* found = sessions.find(service, client(number));
        const auto known = expected.find({service, number});
        ASSERT_EQ(found != nullptr, known != expected.end());
        if (found == nullptr) {
            sessions.add(service, client(number), backend, now);
            expected[{service, number}] = backend;
            continue;
        }
        ASSERT_EQ(found->backend, known->second);
        if (random() % 2 == 0) {
            sessions.remove(*found);
            expected.erase(known);
        } else {
            sessions.touch(*found, random() % 2 == 0 ? Session::lasting : Session::closing, now);
        }
    }
    EXPECT_EQ(sessions.size(), expected.size());
    std::size_t seen = 0;
    sessions.forEach([&](const Session&) { seen++; });
    EXPECT_EQ(seen, expected.size());
    EXPECT_EQ(sessions.evicted(), 0U);
}

} // namespace
} // namespace tna::balancer
