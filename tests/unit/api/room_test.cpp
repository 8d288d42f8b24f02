// SPDX-License-Identifier: Apache-2.0
#include "api/room.hpp"

#include <gtest/gtest.h>

namespace tna::test {
namespace {

using State = api::Connection::State;
constexpr uid_t alone = 1000, crowd = 2000;

class Room : public ::testing::Test {
protected:
    /// Each is younger than those before.
    api::Connection& add(uid_t user, bool mayChange = false, State state = State::receiving) {
        auto& connection = connections_[next_];
        connection.peer.user = user;
        connection.mayChange = mayChange;
        connection.state = state;
        connection.since = connection.deadline =
            api::Connection::Clock::time_point{std::chrono::seconds(next_)};
        next_++;
        return connection;
    }
    /// The number of who has to go; nothing if nobody has.
    std::optional<std::uint64_t> numberOf(api::Connections::iterator found) {
        return found == connections_.end() ? std::nullopt : std::optional{found->first};
    }
    std::optional<std::uint64_t> goesFor(bool mayChange) {
        return numberOf(api::whoGoesFor(connections_, mayChange));
    }
    std::optional<std::uint64_t> answerGoes() { return numberOf(api::whoseAnswerGoes(connections_)); }

    std::uint64_t next_ = 1;
    api::Connections connections_;
};

TEST_F(Room, SomeIsKeptForWhoMayChangeSomething) {
    while (api::hasRoom(connections_, false))
        add(crowd);
    EXPECT_EQ(connections_.size(), 192U);
    while (api::hasRoom(connections_, true))
        add(alone, true);
    EXPECT_EQ(connections_.size(), 256U);
}

TEST_F(Room, TheOldestOfWhoHasMostGoes) {
    add(alone);
    add(crowd);
    add(crowd);
    EXPECT_EQ(goesFor(false), 2U);
}

TEST_F(Room, NobodyGoesForWhoOnlyLooksIfAllMayChangeSomething) {
    add(alone, true);
    EXPECT_FALSE(goesFor(false));
    EXPECT_EQ(goesFor(true), 1U);
}

TEST_F(Room, WhatIsAskedForIsDoneIfItChangesSomething) {
    add(alone, true, State::answering).looks = false;
    add(alone, true, State::streaming);
    EXPECT_FALSE(goesFor(true));
    add(alone, true, State::answering).looks = true;
    EXPECT_EQ(goesFor(true), 3U);
}

TEST_F(Room, AnswersThatNobodyReadsGoWhenTheyAreTooLarge) {
    constexpr std::size_t large = std::size_t{20} * 1024 * 1024;
    add(crowd, false, State::sending).out.reserve(large);
    EXPECT_FALSE(answerGoes());
    add(alone, false, State::sending).out.reserve(100);
    EXPECT_FALSE(answerGoes());
    add(0, true, State::sending).out.reserve(large + 1);
    EXPECT_EQ(answerGoes(), 1U) << "not who may change something, though there is more of it";
    connections_.erase(1);
    connections_.erase(2);
    EXPECT_FALSE(answerGoes()) << "a single one may be as long as it is";
}

} // namespace
} // namespace tna::test
