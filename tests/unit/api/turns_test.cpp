// SPDX-License-Identifier: Apache-2.0
#include "api/turns.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

using Ids = std::vector<std::uint64_t>;

/// One after the other.
Ids all(api::Turns& turns) {
    Ids order;
    while (const auto id = turns.next()) {
        order.push_back(*id);
        turns.done(false);
    }
    return order;
}

TEST(Turns, UsersTakeTurnsHoweverMuchTheyAsk) {
    api::Turns turns{1};
    for (std::uint64_t id = 10; id < 14; id++)
        turns.wait(id, 1000, false);
    turns.wait(20, 2000, false);
    turns.wait(30, 3000, false);
    EXPECT_EQ(all(turns), (Ids{10, 20, 30, 11, 12, 13}));
}

TEST(Turns, WhoMayChangeSomethingGoesFirst) {
    api::Turns turns{1};
    turns.wait(1, 1000, false);
    turns.wait(2, 0, true);
    EXPECT_EQ(turns.next(), 2U);
    EXPECT_FALSE(turns.next()) << "there is one place";
    turns.done(true);
    EXPECT_EQ(turns.next(), 1U);
}

TEST(Turns, PlacesAreKeptForWhoMayChangeSomething) {
    api::Turns turns{3, 1};
    for (std::uint64_t id = 0; id < 9; id++)
        turns.wait(id, 1000, false);
    EXPECT_TRUE(turns.next());
    EXPECT_TRUE(turns.next());
    EXPECT_FALSE(turns.next());
    turns.wait(20, 0, true);
    EXPECT_EQ(turns.next(), 20U);
    turns.done(false);
    EXPECT_TRUE(turns.next());
}

TEST(Turns, WhoHasGoneHasNoTurn) {
    api::Turns turns{1};
    turns.wait(1, 1000, false);
    turns.wait(2, 1000, false);
    turns.wait(3, 2000, false);
    turns.leave(1, 1000, false);
    turns.leave(3, 2000, false);
    turns.leave(4, 3000, false);
    EXPECT_EQ(all(turns), Ids{2});
}

} // namespace
} // namespace tna::test
