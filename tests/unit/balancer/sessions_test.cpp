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
